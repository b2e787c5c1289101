/** The files of a workspace: contents by path. A link's content is `link:` and its target. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

export type Files = ReadonlyMap<string, string>;

export function setOrDelete(files: Map<string, string>, path: string, content: string | undefined): void {
  if (content === undefined) files.delete(path);
  else files.set(path, content);
}

export function sameSets(one: readonly string[] | undefined, other: readonly string[]): boolean {
  return (
    one !== undefined && new Set([...one, ...other]).size === new Set(one).size && one.length === other.length
  );
}

export function sameFiles(one: Files, other: Files): boolean {
  return one.size === other.size && [...one].every(([path, content]) => other.get(path) === content);
}

export function sorted(files: Files): readonly string[] {
  return [...files].map(([path, content]) => `${path}: ${content}`).sort();
}

/** The paths above this one, without the root. */
export function foldersOf(path: string): readonly string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join('/'));
}

/** Whether something is both a file and a folder. */
export function clashes(...all: readonly Files[]): boolean {
  const paths = new Set(all.flatMap((files) => [...files.keys()]));
  return [...paths].some((path) => foldersOf(path).some((folder) => paths.has(folder)));
}

/** Those of `files` that cannot be beside the others. */
export function clashingWith(files: Files, others: Files): readonly string[] {
  const above = new Set([...others.keys()].flatMap(foldersOf));
  return [...files.keys()].filter(
    (path) => above.has(path) || foldersOf(path).some((folder) => others.has(folder)),
  );
}

export function readTree(root: string): Files {
  const files = new Map<string, string>();
  const visit = (folder: string) => {
    for (const item of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = folder === '' ? item.name : `${folder}/${item.name}`;
      if (path === '.dray') continue;
      if (item.isDirectory()) visit(path);
      else if (item.isSymbolicLink()) files.set(path, `link:${readlinkSync(join(root, path))}`);
      else files.set(path, readFileSync(join(root, path), 'utf8'));
    }
  };
  if (existsSync(root)) visit('');
  return files;
}

export function writeAt(root: string, path: string, content: string): void {
  const full = join(root, path);
  rmSync(full, { force: true, recursive: true });
  mkdirSync(dirname(full), { recursive: true });
  if (content.startsWith('link:')) symlinkSync(content.slice('link:'.length), full);
  else writeFileSync(full, content);
}

export function removeAt(
  root: string,
  path: string,
  { withFolders }: { readonly withFolders: boolean },
): void {
  rmSync(join(root, path));
  if (!withFolders) return;
  for (let at = dirname(join(root, path)); at !== root && readdirSync(at).length === 0; at = dirname(at))
    rmdirSync(at);
}

/** Those that a stopped change has left, or others. @returns Whether nothing is left in the folder. */
export function removeEmptyFolders(folder: string): boolean {
  let isEmpty = true;
  for (const item of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, item.name);
    const isGone = item.isDirectory() && item.name !== '.dray' && removeEmptyFolders(path);
    if (isGone) rmdirSync(path);
    isEmpty &&= isGone;
  }
  return isEmpty;
}
