/** Yields dropped items as files with paths. Folders are read while they are walked, not before. */
import type { DirectoryDropItem, DropItem, FileDropItem } from 'react-aria-components';
import type { DroppedFile } from './drop-queue.ts';

export async function* walkDropped(items: readonly DropItem[], place: string): AsyncGenerator<DroppedFile> {
  for (const item of items) {
    if (item.kind !== 'text') yield* walk(item, { folder: '', place });
  }
}

async function* walk(
  item: FileDropItem | DirectoryDropItem,
  { folder, place }: { readonly folder: string; readonly place: string },
): AsyncGenerator<DroppedFile> {
  const path = `${folder}${item.name}`;
  if (item.kind === 'file') yield { place, path, open: () => item.getFile() };
  else for await (const entry of item.getEntries()) yield* walk(entry, { folder: `${path}/`, place });
}
