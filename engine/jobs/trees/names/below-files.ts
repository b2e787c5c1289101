/** Objects below the name of another object: a bucket holds `data` and `data/x`, and no folder does. */
import { join } from 'node:path';
import { DrayError } from '../../../api/error.ts';
import { localPlaceKind } from '../../../files/scan/local-place.ts';
import type { TreeSide } from '../sides.ts';

/** Returns why the path may not be written. Call in order, once for each path that is to be there. */
export type BelowFiles = (path: string) => DrayError | undefined;

/** Undefined where the destination can hold both, or the source cannot. */
export function belowFilesOf({
  destination,
  source,
}: {
  readonly source: TreeSide;
  readonly destination: TreeSide;
}): BelowFiles | undefined {
  const hasBoth = source.kind === 'remote' && !source.store.files;
  const isFolder = destination.kind === 'local' || destination.store.files !== undefined;
  if (!hasBoth || !isFolder) return undefined;
  // Where a folder is already, the file is what cannot be written.
  const isThere = (path: string) =>
    destination.kind === 'local' && localPlaceKind(join(destination.root, path)) === 'folder';
  return createBelowFiles(isThere);
}

/** @param isFolder Whether the destination has a folder of the file's name. */
function createBelowFiles(isFolder: (path: string) => boolean): BelowFiles {
  /** The paths of files that the last one begins with, longest last. */
  const above: string[] = [];
  return (path) => {
    // Between `data` and `data/x` come `data-1` and others that begin so.
    while (above.length > 0 && !path.startsWith(above.at(-1)!)) above.pop();
    const file = above.find((each) => path[each.length] === '/');
    if (file !== undefined) return isFolder(file) ? undefined : belowFile(path, file);
    above.push(path);
    return undefined;
  };
}

function belowFile(path: string, file: string): DrayError {
  const message = `"${path}" was left out, because the source has a file "${file}" too, and a folder cannot hold both.`;
  return new DrayError('unsafePath', message, {
    data: { path, other: file },
    advice: 'Copy one of them to another place.',
  });
}
