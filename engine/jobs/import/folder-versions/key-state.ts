/** Which keys a bucket has at one time, as far as they can be paths of files. */
import type { KeyChange } from '../../../index/version-table.ts';
import { type BlobHash, comparePaths, type FileEntry } from '../../../model/entry.ts';
import { checkEntryPath } from '../../../model/safe-path.ts';
import type { ImportProblem } from '../import-problem.ts';

interface KnownFile {
  readonly sizeBytes: number;
  readonly modifiedMs: number;
  /** Of a file that an earlier import has brought. */
  readonly earlier?: BlobHash;
}

/** Not for a key that stands for a folder, as web consoles make them. */
export function isFilePath(path: string): boolean {
  return unsafeReason(path) === undefined;
}

function unsafeReason(path: string): string | undefined {
  return checkEntryPath(path, { kind: 'file', platform: 'linux' });
}

export class KeyState {
  readonly #files = new Map<string, KnownFile>();
  /** How many files lie below each folder. */
  readonly #folders = new Map<string, number>();
  readonly #problems: ImportProblem[] = [];

  /** @param files What an earlier import knows. */
  constructor(files: readonly FileEntry[]) {
    for (const { blob: earlier, mtimeNs, path, sizeBytes } of files)
      this.#set(path, { sizeBytes, modifiedMs: Number(mtimeNs / 1_000_000n), earlier });
  }

  apply(changes: readonly KeyChange[]): void {
    this.#problems.length = 0;
    for (const { content, modifiedMs, path } of changes) {
      const reason = content && content.sizeBytes + Number(!isMarker(path)) > 0 && unsafeReason(path);
      if (reason) this.#problems.push(problem(path, reason));
      if (content && isFilePath(path)) this.#set(path, { sizeBytes: content.sizeBytes, modifiedMs });
      else this.#delete(path);
    }
    for (const { path } of changes)
      for (const each of [path, ...foldersOfKey(path)])
        if (this.#files.has(each) && this.isFolder(each))
          this.#problems.push(problem(each, 'other keys lie below it, as in a folder'));
  }

  has(path: string): boolean {
    return this.#files.has(path);
  }

  /** In no order. */
  folders(): Iterable<string> {
    return this.#folders.keys();
  }

  isFolder(path: string): boolean {
    return this.#folders.has(path);
  }

  /** Of the changes that were applied last. A key may be named twice. */
  problems(): readonly ImportProblem[] {
    return this.#problems;
  }

  /**
   * The changes from this state to what the keys are now, in order of their paths.
   * @param isDoubtful Whether a version of the same time and size may have other content than the blob.
   */
  differences(
    current: Iterable<KeyChange>,
    isDoubtful: (change: KeyChange, earlier: BlobHash) => boolean,
  ): readonly KeyChange[] {
    const changes: KeyChange[] = [];
    const left = new Set(this.#files.keys());
    for (const change of current) {
      const { content, modifiedMs, path } = change;
      left.delete(path);
      const known = this.#files.get(path);
      const isSame =
        known?.modifiedMs === modifiedMs &&
        known.sizeBytes === content?.sizeBytes &&
        !(known.earlier && isDoubtful(change, known.earlier));
      if (!isSame && isFilePath(path)) changes.push(change);
    }
    for (const path of left) changes.push({ path, modifiedMs: 0 });
    return changes.sort((one, other) => comparePaths(one.path, other.path));
  }

  #set(path: string, file: KnownFile): void {
    if (!this.#files.has(path)) this.#count(path, 1);
    this.#files.set(path, file);
  }

  #delete(path: string): void {
    if (this.#files.delete(path)) this.#count(path, -1);
  }

  #count(path: string, by: 1 | -1): void {
    for (const folder of foldersOfKey(path)) {
      const below = (this.#folders.get(folder) ?? 0) + by;
      if (below > 0) this.#folders.set(folder, below);
      else this.#folders.delete(folder);
    }
  }
}

/** An empty object that makes a folder visible. Empty: the place itself. */
function isMarker(path: string): boolean {
  return path === '' || path.endsWith('/');
}

export function* foldersOfKey(path: string): Generator<string> {
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) yield path.slice(0, at);
}

function problem(path: string, reason: string): ImportProblem {
  return { path, code: 'unsafePath', message: `${path} cannot be imported: ${reason}.` };
}
