/** The new dataset in order: the base before the prefix, the entries of the parts, the rest of the base. */
import type { FleetRequest } from '../../../api/jobs/fleet.ts';
import type { Entry } from '../../../model/entry.ts';
import { comparePaths } from '../../../model/entry.ts';
import type { ManifestPiece } from '../../../repository/manifest/join-manifest.ts';
import { EMPTY_MANIFEST, type Manifest, type SegmentRef } from '../../../repository/manifest/manifest.ts';
import { readEntries } from '../../../repository/manifest/read-entries.ts';
import { readSegment } from '../../../repository/manifest/stored-segment.ts';
import type { FleetFolder } from '../fleet-folder.ts';
import { readPart } from '../fleet-part.ts';
import { type MergeProblem, mergeWorkers } from './merge-workers.ts';
import { type PartEntries, readPartEntries } from './part-entries.ts';
import { foldersOf, type PushTarget } from './push-target.ts';

export class DatasetPieces {
  readonly #folder: FleetFolder;
  readonly #ranges: number;
  readonly #target: PushTarget;
  readonly #workers: readonly string[] | undefined;
  readonly #call: { readonly signal: AbortSignal };
  /** Files at the end of a part whose path also begins the names of a later part. */
  readonly #doubtful = new Set<string>();
  #missing = 0;

  constructor(
    folder: FleetFolder,
    { ranges, request, target }: PiecesOptions,
    call: { readonly signal: AbortSignal },
  ) {
    this.#folder = folder;
    this.#ranges = ranges;
    this.#target = target;
    this.#workers = request.workers;
    this.#call = call;
  }

  /** Complete once all pieces have been read. */
  get missingParts(): number {
    return this.#missing;
  }

  async *inOrder(): AsyncGenerator<ManifestPiece> {
    const { prefix } = this.#target;
    // Empty folders that have content now.
    const filled = new Set(foldersOf(prefix).map((folder) => `${folder}/`));
    if (prefix !== '')
      yield* this.#ofBase({
        from: '',
        isTaken: ({ path }) => comparePaths(path, prefix) < 0 && !filled.has(path),
        isWhole: ({ first, last }) =>
          comparePaths(last, prefix) < 0 &&
          ![...filled].some((path) => comparePaths(first, path) <= 0 && comparePaths(path, last) <= 0),
        isOver: ({ first }) => comparePaths(first, prefix) >= 0,
      });
    yield* this.#ofParts();
    const isBehind = (path: string) => comparePaths(path, prefix) > 0 && !path.startsWith(prefix);
    if (prefix !== '')
      yield* this.#ofBase({
        from: prefix,
        isTaken: ({ path }) => isBehind(path),
        isWhole: ({ first }) => isBehind(first),
        isOver: () => false,
      });
  }

  /** A file that lies where files of another part need a folder. */
  async findClash(manifest: Manifest): Promise<string | undefined> {
    for (const file of this.#doubtful) {
      const options = { prefix: `${file}/`, ...this.#call };
      for await (const _ of readEntries(this.#folder.store, { manifest }, options)) return file;
    }
    return undefined;
  }

  /** The entries of all workers, in order. */
  merged(onProblem: (problem: MergeProblem) => void): AsyncGenerator<readonly Entry[]> {
    const workers = (this.#workers ?? []).map((worker, range) => ({ worker, batches: this.#ofRange(range) }));
    return mergeWorkers(workers, onProblem);
  }

  async *#ofRange(range: number): AsyncGenerator<readonly Entry[]> {
    for await (const { rest } of this.#storedParts(range)) yield rest;
  }

  /** The parts of a range in order. Counts those that are missing. */
  async *#storedParts(range: number): AsyncGenerator<PartEntries> {
    for (let number = 0; ; number += 1) {
      const part = { range, number };
      const [cut, stored] = await Promise.all([
        readPart(this.#folder, part),
        readPartEntries(this.#folder, part),
      ]);
      if (!cut || !stored) this.#missing += 1;
      if (stored) yield stored;
      if (!cut || cut.isLast) return;
    }
  }

  async *#ofParts(): AsyncGenerator<ManifestPiece> {
    if (this.#workers) {
      for await (const entries of this.merged(() => {})) yield { entries };
      return;
    }
    let open: readonly string[] = [];
    for (let range = 0; range < this.#ranges; range += 1)
      for await (const { open: openAtEnd, rest, segments } of this.#storedParts(range)) {
        const first = segments[0]?.first ?? rest[0]?.path;
        const last = rest.at(-1)?.path ?? segments.at(-1)?.last;
        if (first !== undefined && last !== undefined) {
          for (const file of open) if (first.startsWith(file)) this.#doubtful.add(file);
          open = [...open.filter((file) => last.startsWith(file)), ...openAtEnd];
        }
        for (const segment of segments) yield { segment };
        yield { entries: rest };
      }
  }

  async *#ofBase(stretch: BaseStretch): AsyncGenerator<ManifestPiece> {
    const manifest = this.#target.base?.commit.manifest ?? EMPTY_MANIFEST;
    if (manifest.kind === 'inline') {
      yield { entries: manifest.entries.filter(stretch.isTaken) };
      return;
    }
    for (const segment of manifest.segments) {
      if (comparePaths(segment.last, stretch.from) < 0) continue;
      if (stretch.isOver(segment)) return;
      if (stretch.isWhole(segment)) yield { segment };
      else
        yield {
          entries: (await readSegment(this.#folder.store, segment, this.#call)).filter(stretch.isTaken),
        };
    }
  }
}

interface PiecesOptions {
  readonly ranges: number;
  readonly request: Pick<FleetRequest, 'workers'>;
  readonly target: PushTarget;
}

interface BaseStretch {
  readonly from: string;
  readonly isTaken: (entry: Entry) => boolean;
  readonly isWhole: (segment: SegmentRef) => boolean;
  readonly isOver: (segment: SegmentRef) => boolean;
}
