/** In the desktop app, what is dropped has a path, and the engine copies it by that. A browser keeps paths to itself. */
import type { TransferOrder } from '../../../engine/api/host.ts';
import { below, type Location, placeOf } from './places.ts';

export interface DesktopEntry {
  /** Absolute, as the system writes it. */
  readonly path: string;
  readonly isFolder: boolean;
}

/** Has to be called while the drop is being told of: afterwards it holds nothing. Undefined where there are no paths. */
export function desktopEntries(
  { items }: DataTransfer,
  pathOf: ((file: File) => string) | undefined,
): readonly DesktopEntry[] | undefined {
  if (!pathOf) return undefined;
  const entries: DesktopEntry[] = [];
  for (const item of items) {
    const file = item.kind === 'file' ? item.getAsFile() : null;
    const path = file ? pathOf(file) : '';
    if (path === '') return undefined;
    entries.push({ path, isFolder: item.webkitGetAsEntry()?.isDirectory ?? false });
  }
  return entries;
}

/** A folder keeps its name. */
export function copyOrdersOf(entries: readonly DesktopEntry[], into: Location): readonly TransferOrder[] {
  return entries.map(({ isFolder, path }) => {
    const name = path.replaceAll('\\', '/').replace(/\/+$/, '').split('/').at(-1)!;
    return {
      kind: 'copy',
      source: isFolder ? `${path.replace(/[/\\]+$/, '')}/` : path,
      destination: isFolder ? placeOf(below(into, name)) : placeOf(into),
    };
  });
}
