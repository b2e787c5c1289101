/**
 * A typical tree: many small files and a few large ones. Also reads from a server's log which pieces of it
 * were transferred.
 */
import { createCipheriv } from 'node:crypto';
import { utimesSync } from 'node:fs';
import type { Sandbox } from '../engine/jobs/session/job.fixture.ts';
import type { LoggedRequest } from './servers/versitygw.ts';

const MIB = 1024 * 1024;
/** The part size of uploads and the range size of copies between stores, below 512 MiB. */
export const PART_BYTES = 8 * MIB;
/** Files up to this size take one request. */
const ONE_PUT_BYTES = 16 * MIB;
/** A time in the past: the cache does not remember files as young as the scan. */
const MTIME_S = 1_700_000_000.5;

export interface MixedTree {
  readonly root: string;
  readonly sizes: ReadonlyMap<string, number>;
  readonly bytes: number;
  /** The number of requests that carry content in an uninterrupted run. */
  readonly pieces: number;
  /** Names of files that are transferred in parts. */
  readonly large: readonly string[];
}

export interface MixedTreeOptions {
  readonly small: number;
  /** Their names decide their place in the order. */
  readonly large: Readonly<Record<string, number>>;
}

export function writeMixedTree(sandbox: Sandbox, name: string, options: MixedTreeOptions): MixedTree {
  const sizes = new Map(Object.entries(options.large));
  // From one byte to 60 KB; none is empty.
  for (let at = 0; at < options.small; at += 1)
    sizes.set(`d${at % 7}/small-${at}`, 1 + ((at * 7_919) % 60_000));
  let [bytes, pieces] = [0, 0];
  for (const [path, sizeBytes] of sizes) {
    const full = sandbox.write(`${name}/${path}`, noise(sizeBytes, bytes));
    utimesSync(full, MTIME_S, MTIME_S);
    bytes += sizeBytes;
    pieces += sizeBytes > ONE_PUT_BYTES ? Math.ceil(sizeBytes / PART_BYTES) : 1;
  }
  return { root: sandbox.path(name), sizes, bytes, pieces, large: Object.keys(options.large) };
}

/** Bytes that neither repeat nor compress, the same for the same seed. */
function noise(sizeBytes: number, seed: number): Uint8Array {
  const iv = Buffer.alloc(16);
  iv.writeUInt32BE(seed);
  return createCipheriv('aes-128-ctr', Buffer.alloc(16), iv).update(Buffer.alloc(sizeBytes));
}

/** A request that carried a file's content, or a part of it. */
export interface Piece {
  readonly path: string;
  /** The part number of a multipart upload; 0 otherwise. */
  readonly part: number;
  /** The most bytes that it carried. */
  readonly sizeBytes: number;
}

/** @param prefix The tree's path in the server's log: `/BUCKET/FOLDER/`. */
export function piecesSent(tree: MixedTree, requests: readonly LoggedRequest[], prefix: string): Piece[] {
  return piecesOf(tree, requests, { operations: /^(PutObject|UploadPart)$/, prefix });
}

export function piecesFetched(tree: MixedTree, requests: readonly LoggedRequest[], prefix: string): Piece[] {
  return piecesOf(tree, requests, { operations: /^GetObject$/, prefix });
}

function piecesOf(
  tree: MixedTree,
  requests: readonly LoggedRequest[],
  { operations, prefix }: { readonly operations: RegExp; readonly prefix: string },
): Piece[] {
  return requests
    .filter(({ operation, path }) => operations.test(operation) && path.startsWith(prefix))
    .map(({ path, query }) => {
      const name = decodeURIComponent(path.slice(prefix.length));
      const part = Number(new URLSearchParams(query).get('partNumber') ?? 0);
      const whole = tree.sizes.get(name) ?? 0;
      const rest = whole - Math.max(0, part - 1) * PART_BYTES;
      return { path: name, part, sizeBytes: whole > ONE_PUT_BYTES ? Math.min(rest, PART_BYTES) : whole };
    });
}

/** Numerical Recipes' linear congruential generator: the same numbers in [0, 1) for the same seed. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
