/** Plans which ranges of a pack to read for the wanted blobs. */

export interface PackRead<Item> {
  /** Half open, in bytes of the pack. */
  readonly start: number;
  readonly end: number;
  /** The items in the range, by offset. */
  readonly items: readonly Item[];
}

export interface PackReadLimits {
  /** Bytes that may be read and discarded to save a request. */
  readonly gapBytesMax: number;
  /** The largest range, except for a single larger blob. */
  readonly rangeBytesMax: number;
}

interface PackItem {
  readonly offset: number;
  readonly sizeBytes: number;
  /** Its bytes in the pack if it is compressed. */
  readonly storedBytes?: number;
}

export function storedBytesOf({ sizeBytes, storedBytes = sizeBytes }: Omit<PackItem, 'offset'>): number {
  return storedBytes;
}

/** Joins neighbors: each item is in exactly one range, and ranges ascend by start. Items may repeat. */
export function planPackReads<Item extends PackItem>(
  items: readonly Item[],
  limits: PackReadLimits,
): PackRead<Item>[] {
  const sorted = items.toSorted(
    (left, right) => left.offset - right.offset || storedBytesOf(left) - storedBytesOf(right),
  );
  const reads: { start: number; end: number; items: Item[] }[] = [];
  for (const item of sorted) {
    const end = item.offset + storedBytesOf(item);
    const open = reads.at(-1);
    const isNear = open && item.offset - open.end <= limits.gapBytesMax;
    if (isNear && (end <= open.end || end - open.start <= limits.rangeBytesMax)) {
      open.end = Math.max(open.end, end);
      open.items.push(item);
    } else {
      reads.push({ start: item.offset, end, items: [item] });
    }
  }
  return reads;
}
