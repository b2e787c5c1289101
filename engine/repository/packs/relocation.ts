/**
 * A relocation says where a collection has written the blobs of a pack anew that were still needed. Entries
 * go on naming the old pack, since commits never change; who misses it reads its relocation.
 *
 *     relocations/ab/<62 hex>, named after the old pack, one zstd frame:
 *     {"format":1,"required":["collection"],"pack":"<old>","size":bytes,"packs":["<new>",...],"moves":[
 *     [old offset,length,index of the new pack,new offset],
 *     ...],
 *     "sha256":"<hex>"}
 *
 * It is written once, under If-None-Match. Moves ascend by the old offset and do not overlap. Its key does
 * not depend on what it says, so it carries a digest of that: older ones have none.
 */
import { hash as hashOf } from 'node:crypto';
import { crc32 } from 'node:zlib';
import * as v from 'valibot';
import type { DrayError } from '../../api/error.ts';
import { firstIndexWhere } from '../../base/sorted-search.ts';
import type { PackHash } from '../../model/entry.ts';
import type { CallOptions, ObjectStore } from '../../remotes/object-store.ts';
import {
  checkSchema,
  damaged,
  decodeUnnamed,
  encodeDocument,
  FEATURE_COLLECTION,
  STORED_DOCUMENT_MAX_BYTES,
} from '../document.ts';
import { isHash, relocationKey } from '../keys.ts';
import { PACK_MAX_BYTES } from './pack-format.ts';

/** A pack of which a blob has moved so often is not written anew any more. */
export const MOVES_MAX = 500;
/** The bound of those who follow relocations ends a circle. */
export const HOPS_MAX = 2 * MOVES_MAX;

/** A blob, as it is stored. */
export interface Move {
  readonly offset: number;
  readonly sizeBytes: number;
  /** The new pack, and the offset there. */
  readonly pack: PackHash;
  readonly to: number;
}

export interface Relocation {
  /** The old pack, and its size. */
  readonly pack: PackHash;
  readonly sizeBytes: number;
  readonly moves: readonly Move[];
}

/** Whether the relocation is as it was written: `unknown` for one without a digest. */
export type RelocationProof = 'intact' | 'altered' | 'unknown';

export interface StoredRelocation extends Relocation {
  /** A reader checks each blob against its hash; who removes something must not rely on an altered one. */
  readonly proof: RelocationProof;
}

const bytesSchema = v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(PACK_MAX_BYTES));
const relocationSchema = v.object({
  pack: v.custom<PackHash>(isHash, 'not a hash'),
  size: bytesSchema,
  packs: v.array(v.custom<PackHash>(isHash, 'not a hash')),
  moves: v.array(v.tuple([bytesSchema, bytesSchema, bytesSchema, bytesSchema])),
  sha256: v.optional(v.unknown()),
});

/** One request, or two. Undefined if the pack has none. @throws `damaged`, `formatTooNew` */
export async function readRelocation(
  store: ObjectStore,
  pack: PackHash,
  options: CallOptions = {},
): Promise<StoredRelocation | undefined> {
  const key = relocationKey(pack);
  const read = await store.read(key, { ...options, maxBytes: STORED_DOCUMENT_MAX_BYTES });
  if (!read) return undefined;
  const document = checkSchema(key, relocationSchema, decodeUnnamed(key, read.bytes));
  let end = 0;
  const moves = document.moves.map(([offset, sizeBytes, index, to]) => {
    const target = document.packs[index];
    if (target === undefined || sizeBytes === 0 || offset < end) throw damaged(key, 'a move is impossible');
    end = offset + sizeBytes;
    return { offset, sizeBytes, pack: target, to };
  });
  if (document.pack !== pack || end > document.size) throw damaged(key, 'it does not fit its pack');
  const { sha256, ...content } = document;
  const isIntact = sha256 === digestOf(content);
  return {
    pack,
    sizeBytes: document.size,
    moves,
    proof: sha256 === undefined ? 'unknown' : isIntact ? 'intact' : 'altered',
  };
}

type Content = Omit<v.InferOutput<typeof relocationSchema>, 'sha256'>;

/** Of the values, so white space and the order of fields do not matter. */
function digestOf({ moves, pack, packs, size }: Content): string {
  return hashOf('sha256', JSON.stringify({ pack, size, packs, moves }));
}

/** For a relocation that is altered. */
export function alteredRelocation(pack: PackHash): DrayError {
  return damaged(relocationKey(pack), 'its content does not match its digest');
}

/**
 * One request. The new packs must be stored.
 * @returns False, without an effect, if the pack has a relocation.
 */
export async function writeRelocation(
  store: ObjectStore,
  { moves, pack, sizeBytes }: Relocation,
  options: CallOptions = {},
): Promise<boolean> {
  const packs = [...new Set(moves.map((move) => move.pack))];
  const indexes = new Map(packs.map((target, index) => [target, index]));
  const rows = moves.map(({ offset, pack: target, sizeBytes: length, to }): Content['moves'][number] => [
    offset,
    length,
    indexes.get(target)!,
    to,
  ]);
  const sha256 = digestOf({ pack, size: sizeBytes, packs, moves: rows });
  const head = JSON.stringify({ format: 1, required: [FEATURE_COLLECTION], pack, size: sizeBytes, packs });
  const lines = rows.map((row) => JSON.stringify(row)).join(',\n');
  const { bytes } = encodeDocument(`${head.slice(0, -1)},"moves":[\n${lines}],\n"sha256":"${sha256}"}\n`);
  const checksum = { crc32: crc32(bytes) };
  const condition = { absent: true as const };
  return (await store.put(relocationKey(pack), bytes, { ...options, condition, checksum })).written;
}

/** The move of the blob at this offset of the old pack. */
export function findMove({ moves }: Relocation, offset: number): Move | undefined {
  const found = moves[firstIndexWhere(moves, 0, (move) => move.offset >= offset)];
  return found?.offset === offset ? found : undefined;
}

/** The moves that have a byte from `start` to before `end`. */
export function movesWithin({ moves }: Relocation, start: number, end: number): readonly Move[] {
  const first = firstIndexWhere(moves, 0, (move) => move.offset + move.sizeBytes > start);
  return moves.slice(
    first,
    firstIndexWhere(moves, first, (move) => move.offset >= end),
  );
}
