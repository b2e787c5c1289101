/** XXH3-128 of rows of blocks in shared memory, by the loops of `xxh3-wasm.ts`. */
import { openXxh3Loops, XXH3_SECRET_BYTES } from './xxh3-wasm.ts';

/** The room for XXH3's secret. */
const XXH3_OWN_BYTES = XXH3_SECRET_BYTES;

/** `kSecret` of xxHash 0.8. The secret of a seed is made from it. */
const SECRET =
  'uP5sOSOkS758AYEs9yGtHN7UbemDkJfbckCkpLezZx/LeeZOzMDleIJa0H3M/3IhuAhGdPdDJI7gNZDmgTomTDwoUruRwwDLiNBlixtTLqNxZEiXog35TjgZ70ap3qzYqPp2P+OcND/53LvHxwtPHYpR4EvNtFkxyJ9+ydl4c2TqxayDNNPrw8WBoP/6E2PrFw3dUbfw2knTFlUmKdRonisWvlh9R6H8j/i40XrQMc5FyzqPlRYEKK/X+8q7S0B+';

export interface Xxh3Options {
  readonly memory: WebAssembly.Memory;
  /** The address of `XXH3_OWN_BYTES` for XXH3 alone. */
  readonly ownAt: number;
}

export interface Xxh3Blocks {
  /** Sets the seed of the next blocks. 64 bits. */
  seed(seed: bigint): void;
  readonly blocks: (at: number, end: number, blockBytes: number, to: number) => void;
}

/** Takes some milliseconds for the first time. Throws where WebAssembly has no vectors. */
export function openXxh3Blocks({ memory, ownAt }: Xxh3Options): Xxh3Blocks {
  const { blocks } = openXxh3Loops(memory);
  const own = new DataView(memory.buffer, ownAt, XXH3_OWN_BYTES);
  const plain = Buffer.from(SECRET, 'base64');
  return {
    seed(seed) {
      for (let at = 0; at < XXH3_SECRET_BYTES; at += 16) {
        own.setBigUint64(at, BigInt.asUintN(64, plain.readBigUInt64LE(at) + seed), true);
        own.setBigUint64(at + 8, BigInt.asUintN(64, plain.readBigUInt64LE(at + 8) - seed), true);
      }
    },
    blocks: (at, end, blockBytes, to) => blocks(at, end, blockBytes, ownAt, to),
  };
}
