/** `POST /v1/read`: many small files in one answer. */
import { closeSync, fstatSync } from 'node:fs';
import * as v from 'valibot';
import { type DrayError, toErrorRecord } from '../api/error.ts';
import type { Budget } from '../base/budget.ts';
import { crc64Nvme, formatCrc64 } from '../checksums/crc64-nvme.ts';
import { describeFailure, readStatOf, readWhole } from '../files/read/open-file.ts';
import { modeBits } from '../model/special-modes.ts';
import { PEER_LIMITS, type PeerReadResult } from '../peer-protocol/messages.ts';
import { answerBatch, type PeerCall, PeerRefusal, receiveJson, sent } from './peer-call.ts';
import { peerToken } from './peer-etag.ts';
import { type OfferedFolder, openPeerFile, openPeerFolder, parsePeerPath } from './peer-paths.ts';

const Paths = v.strictObject({
  paths: v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(PEER_LIMITS.batchItemsMax)),
});
const CRC64_OF_NOTHING = '0'.repeat(16);

/**
 * Files in the requested order, each in full or as its error; contents one after another. A path that ends in
 * a slash is a folder, which gets its mode and time. If the next one would exceed `batchBytesMax`, it and the
 * rest are `left`: the client asks again. The first is never left; if it alone is too large, it is an error,
 * and `GET /v1/content` gives it.
 */
export async function answerRead(
  call: PeerCall,
  { budget, folder }: { readonly folder: OfferedFolder; readonly budget: Budget },
): Promise<void> {
  const { paths } = await receiveJson(call, { budget, schema: Paths, form: '{"paths":[...]}' });
  using _permit = await budget.acquire(PEER_LIMITS.batchBytesMax, call.signal);
  const pieces: Uint8Array[] = [];
  const results: PeerReadResult[] = [];
  let sizeBytes = 0;
  for (const path of paths) {
    const result = readOne(folder, path, PEER_LIMITS.batchBytesMax - sizeBytes);
    if (result === 'left') break;
    results.push(result.result);
    if (result.bytes) {
      pieces.push(result.bytes);
      sizeBytes += result.bytes.length;
    }
  }
  answerBatch(call.response, { results }, { pieces, sizeBytes });
  await sent(call);
}

function readOne(
  folder: OfferedFolder,
  text: string,
  roomBytes: number,
): 'left' | { readonly result: PeerReadResult; readonly bytes?: Uint8Array } {
  let path = text;
  try {
    if (text.endsWith('/')) return readFolder(folder, text);
    path = parsePeerPath(text);
    const descriptor = openPeerFile(folder, path);
    if (descriptor === undefined)
      return failed({ code: 'notFound', message: `There is no file ${path}.`, retry: 'no', data: { path } });
    try {
      const openedMs = Date.now();
      const stats = fstatSync(descriptor, { bigint: true });
      const file = { descriptor, stats, openedMs };
      const stat = readStatOf(file);
      if (stat.sizeBytes > PEER_LIMITS.batchBytesMax)
        return failed({
          code: 'usage',
          message: `${path} is too large for a batch.`,
          retry: 'no',
          data: { path },
        });
      if (stat.sizeBytes > roomBytes) return 'left';
      const room = Buffer.allocUnsafe(stat.sizeBytes + 1);
      readWhole(file, room);
      const bytes = room.subarray(0, stat.sizeBytes);
      return {
        result: {
          sizeBytes: bytes.length,
          mtimeNs: stat.mtimeNs.toString(),
          mode: modeBits(stats.mode),
          token: peerToken(stat, openedMs),
          crc64: formatCrc64(crc64Nvme(bytes)),
        },
        bytes,
      };
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    return failed(isKnown(error) ? toErrorRecord(error) : describeFailure(path, error));
  }
}

/** Its mode and its time to the nanosecond, more exact than a listing's double. It has no content. */
function readFolder(folder: OfferedFolder, text: string): { readonly result: PeerReadResult } {
  const path = parsePeerPath(text, { allowRoot: true });
  const descriptor = openPeerFolder(folder, path);
  if (descriptor === undefined)
    return failed({ code: 'notFound', message: `There is no folder ${path}.`, retry: 'no', data: { path } });
  try {
    const { mode, mtimeNs } = fstatSync(descriptor, { bigint: true });
    return {
      result: {
        sizeBytes: 0,
        mtimeNs: mtimeNs.toString(),
        mode: modeBits(mode),
        token: '',
        crc64: CRC64_OF_NOTHING,
      },
    };
  } finally {
    closeSync(descriptor);
  }
}

function isKnown(error: unknown): error is DrayError | PeerRefusal {
  return error instanceof Error && (error.name === 'DrayError' || error instanceof PeerRefusal);
}

function failed(error: ReturnType<typeof toErrorRecord>): { readonly result: PeerReadResult } {
  return { result: { error } };
}
