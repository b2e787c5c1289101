/** The files that a job moves or reads now. Each is known by its path until it ends. */
import type { FileUnderWay } from '../../api/events.ts';

/** A report names this many. */
const REPORTED_MAX = 4;

export class UnderWay {
  readonly #files = new Map<string, { bytesDone: number; readonly sizeBytes: number }>();

  /** A path that is under way already goes on. */
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

  /** A file that grows reports no more than its first size. */
  read(): FileUnderWay[] {
    // Of many files most wait for their turn: those that have moved come first, then large ones.
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
