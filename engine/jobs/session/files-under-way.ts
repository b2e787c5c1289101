/** The files that a job moves or reads now, by path. */
import type { FileUnderWay } from '../../api/events.ts';

/** The most files in one report. */
const REPORTED_MAX = 4;

interface FileState {
  bytesDone: number;
  readonly sizeBytes: number;
}

type FileEntry = readonly [path: string, state: FileState];

export class UnderWay {
  readonly #files = new Map<string, FileState>();

  /** Does nothing if the path is already listed. */
  begin(path: string, sizeBytes: number): void {
    if (!this.#files.has(path)) this.#files.set(path, { bytesDone: 0, sizeBytes });
  }

  add(path: string | undefined, bytes: number): void {
    const file = path === undefined ? undefined : this.#files.get(path);
    if (file) file.bytesDone += bytes;
  }

  end(path: string): void {
    this.#files.delete(path);
  }

  /** Bytes are capped at the file's first size, because a file may grow. */
  read(): FileUnderWay[] {
    return this.#first().map(([path, { bytesDone, sizeBytes }]) => ({
      path,
      bytesDone: Math.max(0, Math.min(bytesDone, sizeBytes)),
      sizeBytes,
    }));
  }

  /** One pass: to sort a thousand files for each report takes eight times as long. */
  #first(): readonly FileEntry[] {
    const first: FileEntry[] = [];
    for (const entry of this.#files) {
      let at = first.length;
      while (at > 0 && isBefore(entry[1], first[at - 1]![1])) at -= 1;
      if (at === REPORTED_MAX) continue;
      first.splice(at, 0, entry);
      if (first.length > REPORTED_MAX) first.pop();
    }
    return first;
  }
}

/** Most of many files wait for their turn, so files that have moved come first, then large ones. */
function isBefore(one: FileState, other: FileState): boolean {
  const hasMoved = one.bytesDone > 0;
  return hasMoved === other.bytesDone > 0 ? one.sizeBytes > other.sizeBytes : hasMoved;
}
