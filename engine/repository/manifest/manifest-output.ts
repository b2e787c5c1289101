/** Takes the entries of a manifest in order, cuts them into segments and stores the new ones. */
import type { Entry, SegmentHash } from '../../model/entry.ts';
import { EMPTY_MANIFEST, type Manifest, type SegmentRef } from './manifest.ts';
import { type EncodedSegment, encodeSegment, type KeysToAvoid } from './segment.ts';
import { SegmentCutter } from './segment-cutter.ts';

export interface ManifestOutputOptions {
  /** Segments that are already stored. */
  readonly baseSegments: readonly SegmentRef[];
  readonly onSegment: (segment: EncodedSegment) => Promise<void>;
  readonly avoid?: KeysToAvoid | undefined;
}

const STORES_AT_ONCE = 8;

export class ManifestOutput {
  readonly #options: ManifestOutputOptions;
  readonly #stored: ReadonlySet<SegmentHash>;
  readonly #cutter = new SegmentCutter();
  readonly #segments: SegmentRef[] = [];
  readonly #storing = new Set<Promise<void>>();
  #entries: Entry[] = [];
  /**
   * The first segment, held until there is a second one: a single segment goes into the commit and is never
   * stored.
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

  /**
   * The manifest, once all of its segments are stored. A single segment stays a list only when it was reused.
   */
  async finish(): Promise<Manifest> {
    if (this.#entries.length > 0) await this.cut();
    await Promise.all(this.#storing);
    if (this.#first) return { kind: 'inline', entries: this.#first };
    return this.#segments.length === 0 ? EMPTY_MANIFEST : { kind: 'segments', segments: this.#segments };
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
