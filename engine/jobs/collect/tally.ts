export interface Tally {
  readonly objects: number;
  readonly bytes: number;
}

export interface GrowingTally extends Tally {
  add(sizeBytes: number): void;
}

export function createTally(): GrowingTally {
  let [objects, bytes] = [0, 0];
  return {
    get objects() {
      return objects;
    },
    get bytes() {
      return bytes;
    },
    add(sizeBytes) {
      objects += 1;
      bytes += sizeBytes;
    },
  };
}

export function sumTallies(one: Tally, other: Tally): Tally {
  return { objects: one.objects + other.objects, bytes: one.bytes + other.bytes };
}
