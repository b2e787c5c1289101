/**
 * Deltas in the peer protocol: one side of a block delta runs at the peer. Offsets travel as JSON, digests as
 * bytes.
 */
import * as v from 'valibot';
import { BLOCK_HASHES } from '../checksums/block-digest.ts';
import { MODE_BITS } from '../model/special-modes.ts';

const Size = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const Offsets = v.pipe(v.array(Size), v.maxLength(300_000));

export const DeltaOpenSchema = v.strictObject({
  side: v.picklist(['source', 'target']),
  path: v.string(),
  // Peers of earlier versions may ask for other digests.
  hash: v.picklist(
    BLOCK_HASHES,
    ({ received }) => `this peer signs blocks with ${BLOCK_HASHES.join(' or ')}, not with ${received}`,
  ),
  /** 64 bits in hex. */
  seed: v.pipe(v.string(), v.regex(/^[0-9a-f]{1,16}$/)),
  blockBytes: v.pipe(Size, v.minValue(512), v.maxValue(16 * 1024 * 1024)),
  chunkSize: v.strictObject({ min: Size, average: Size, max: v.pipe(Size, v.maxValue(64 * 1024 * 1024)) }),
  /** For a target. */
  isInPlace: v.optional(v.boolean()),
  isDryRun: v.optional(v.boolean()),
  mtimeNs: v.optional(v.pipe(v.string(), v.regex(/^-?\d{1,20}$/))),
  mode: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MODE_BITS))),
});
export type DeltaOpen = v.InferOutput<typeof DeltaOpenSchema>;

export const DeltaOpenedSchema = v.object({
  delta: v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/)),
  /** The size of a source, or of a target before the delta. */
  sizeBytes: Size,
  mtimeNs: v.optional(v.string()),
  mode: v.optional(v.number()),
  /** The token of a source, as in a listing. */
  token: v.optional(v.string()),
});

export const DELTA_CALLS = {
  sign: v.strictObject({ start: Size, end: Size }),
  cut: v.strictObject({}),
  read: v.strictObject({ ranges: Offsets, sign: v.boolean() }),
  begin: v.strictObject({ sizeBytes: Size, keepsOld: v.boolean() }),
  write: v.strictObject({ ranges: Offsets }),
  clear: v.strictObject({ ranges: Offsets }),
  copy: v.strictObject({ moves: Offsets }),
  check: v.strictObject({}),
  complete: v.strictObject({}),
} as const;
export type DeltaCall = keyof typeof DELTA_CALLS;
