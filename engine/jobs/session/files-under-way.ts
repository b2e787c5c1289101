/** The files that a job moves or reads now, by path. */
import type { FileUnderWay } from '../../api/events.ts';

/** The most files in one report. */
const REPORTED_MAX = 4;

export class UnderWay {
  readonly #files = new Map<string, { bytesDone: number; readonly sizeBytes: number }>();

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
    // Most of many files wait for their turn, so files that have moved come first, then large ones.
    const some = [...this.#files].sort(
      ([, a], [, b]) => Number(b.bytesDone > 0) - Number(a.bytesDone > 0) || b.sizeBytes - a.sizeBytes,
    );
    return some.slice(0, REPORTED_MAX).map(([path, { bytesDone, sizeBytes }]) => ({
      path,
      bytesDone: Math.max(0, Math.min(bytesDone, sizeBytes)),
      sizeBytes,
    }));
  }
}
