/**
 * In the desktop app a dropped file has a path, so the engine copies it by its path. A browser does not
 * reveal paths.
 */
import type { TransferOrder } from '../../../../engine/api/host/transfers.ts';
import { trimEnd } from '../../../../engine/api/text/trim-ends.ts';
import { fileOrders } from '../copy-orders.ts';
import { below, type Location, placeOf } from '../places.ts';

export interface DesktopEntry {
  /** An absolute path in the system's form. */
  readonly path: string;
  readonly isFolder: boolean;
}

/** Must be called during the drop event, because the data is gone afterwards. Undefined without paths. */
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
  const filesByFolder = new Map<string, string[]>();
  for (const { isFolder, path } of entries) {
    if (isFolder) continue;
    const name = lastName(path);
    const folder = path.slice(0, path.length - name.length);
    const names = filesByFolder.get(folder);
    if (names) names.push(name);
    else filesByFolder.set(folder, [name]);
  }
  return [
    ...[...filesByFolder].flatMap(([folder, names]) =>
      fileOrders(names, { folder, placeOfName: (name) => `${folder}${name}`, into }),
    ),
    ...entries
      .filter(({ isFolder }) => isFolder)
      .map(({ path }): TransferOrder => {
        const destination = placeOf(below(into, lastName(path)));
        return { kind: 'copy', source: `${trimEnd(path, '/\\')}/`, destination };
      }),
  ];
}

/** A backslash separates names only on Windows. Elsewhere it is a character. */
function lastName(path: string): string {
  const slashed = /^(?:[A-Za-z]:|\\\\)/.test(path) ? path.replaceAll('\\', '/') : path;
  return trimEnd(slashed, '/').split('/').at(-1)!;
}
