/** Takes the entries of a manifest in order, cuts them into segments and stores the new ones. */
import type { Entry, SegmentHash } from '../../model/entry.ts';
import { EMPTY_MANIFEST, entryCount, type Manifest, type SegmentRef } from './manifest.ts';
import { type EncodedSegment, encodeSegment, type KeysToAvoid } from './segment.ts';
import { SegmentCutter } from './segment-cutter.ts';

export interface ManifestOutputOptions {
  /** Segments that are already stored. */
  readonly baseSegments: readonly SegmentRef[];
  readonly onSegment: (segment: EncodedSegment) => Promise<void>;
  readonly loadSegment: (segment: SegmentRef) => Promise<readonly Entry[]> | readonly Entry[];
  readonly avoid?: KeysToAvoid | undefined;
}

/**
 * A collection keeps a forgotten commit as it is, with the entries inside it, and removes its segments. So
 * after a first collection, no more entries lie inside than take about 4 KiB.
 */
const INLINE_ENTRIES_MAX = 64;

const STORES_AT_ONCE = 8;

export class ManifestOutput {
  readonly #options: ManifestOutputOptions;
  readonly #stored: ReadonlySet<SegmentHash>;
  readonly #cutter = new SegmentCutter();
  readonly #segments: SegmentRef[] = [];
  readonly #storing = new Set<Promise<void>>();
  #entries: Entry[] = [];
  /**
   * The first segment, held until there is a second one: a single segment may go into the commit, and is not
   * stored then.
   */
  #first: readonly Entry[] | undefined;

  constructor(options: ManifestOutputOptions) {
    this.#options = options;
    this.#stored = new Set(options.baseSegments.map((segment) => segment.hash));
  }

  /** Whether the next entry begins a segment. */
  get isAtCut(): boolean {
    return this.#cutter.isFresh;
  }

  /** True when the segment ends here: call `cut` before the next entry. */
  add(entry: Entry): boolean {
    this.#entries.push(entry);
    return this.#cutter.add(entry);
  }

  async cut(): Promise<void> {
    const entries = this.#entries;
    this.#entries = [];
    if (this.#segments.length === 0 && !this.#first) {
      this.#first = entries;
      return;
    }
    await this.#placeFirst();
    await this.#place(entries);
  }

  /** Reuses a segment of the base. Only at a cut. */
  async reuse(segment: SegmentRef): Promise<void> {
    await this.#placeFirst();
    this.#segments.push(segment);
  }

  /** The manifest, once all of its segments are stored. */
  async finish(): Promise<Manifest> {
    if (this.#entries.length > 0) await this.cut();
    if (this.#first && this.#fitsInside(this.#first.length)) return { kind: 'inline', entries: this.#first };
    await this.#placeFirst();
    await Promise.all(this.#storing);
    const [only, ...others] = this.#segments;
    if (!only) return EMPTY_MANIFEST;
    if (others.length === 0 && this.#fitsInside(entryCount(only)))
      return { kind: 'inline', entries: await this.#options.loadSegment(only) };
    return { kind: 'segments', segments: this.#segments };
  }

  /** Whether a single segment of so many entries lies inside its commit. */
  #fitsInside(entries: number): boolean {
    const { avoid } = this.#options;
    return avoid === undefined || avoid.round === 0 || entries <= INLINE_ENTRIES_MAX;
  }

  /** Waits for all stores in flight, whether they succeed or fail. */
  async settle(): Promise<void> {
    await Promise.allSettled(this.#storing);
  }

  async #placeFirst(): Promise<void> {
    const first = this.#first;
    if (!first) return;
    this.#first = undefined;
    await this.#place(first);
  }

  async #place(entries: readonly Entry[]): Promise<void> {
    const segment = encodeSegment(entries, this.#options.avoid);
    this.#segments.push(segment.ref);
    if (this.#stored.has(segment.hash)) return;
    if (this.#storing.size >= STORES_AT_ONCE) await Promise.race(this.#storing);
    const storing = this.#options.onSegment(segment);
    this.#storing.add(storing);
    // A failed promise stays in the set, so that `finish` or the next race rejects with it.
    storing.then(
      () => this.#storing.delete(storing),
      () => {},
    );
  }
}
