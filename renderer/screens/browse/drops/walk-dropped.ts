/** Yields dropped items as files with paths. Folders are read while they are walked, not before. */
import type { DirectoryDropItem, DropItem, FileDropItem } from 'react-aria-components';
import type { DroppedFile } from './drop-queue.ts';

export async function* walkDropped(
  items: readonly DropItem[],
  into: Pick<DroppedFile, 'confirmed' | 'place'>,
): AsyncGenerator<DroppedFile> {
  for (const item of items) {
    if (item.kind !== 'text') yield* walk(item, '', into);
  }
}

async function* walk(
  item: FileDropItem | DirectoryDropItem,
  folder: string,
  into: Pick<DroppedFile, 'confirmed' | 'place'>,
): AsyncGenerator<DroppedFile> {
  const path = `${folder}${item.name}`;
  if (item.kind === 'file') yield { ...into, path, open: () => item.getFile() };
  else for await (const entry of item.getEntries()) yield* walk(entry, `${path}/`, into);
}
