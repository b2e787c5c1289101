/** `GET` and `HEAD /v1/content`: one file, or a range of it. */
import { closeSync, fstatSync, read } from 'node:fs';
import { promisify } from 'node:util';
import { DrayError } from '../api/error.ts';
import { orAborted } from '../base/abort.ts';
import { crc64Nvme, formatCrc64 } from '../checksums/crc64-nvme.ts';
import { readError, readStatOf } from '../files/read/open-file.ts';
import { isSparse } from '../model/is-sparse.ts';
import { modeBits } from '../model/special-modes.ts';
import { PEER_HEADER, PEER_PROTOCOL } from '../peer-protocol/messages.ts';
import { type PeerCall, PeerRefusal } from './peer-call.ts';
import { exactToken, peerToken } from './peer-etag.ts';
import { type OfferedFolder, openPeerFile, parsePeerPath } from './peer-paths.ts';

const readAt = promisify(read);
const PIECE_BYTES = 512 * 1024;
/** One is read while the other is sent. */
const PIECES_AT_ONCE = 2;
const SUMMED_BYTES = 4 * 1024 * 1024;

/**
 * Headers: `Range: bytes=A-B`, `If-Match: "TOKEN"` (412 if the file is another one). The answer ends early if
 * the file changes or cannot be read while it is sent. The first piece, and a piece that could not be read
 * for an earlier answer, are read before the headers are sent: so a client that asks again learns from a
 * status that this file cannot be read.
 */
export async function answerContent(call: PeerCall, folder: OfferedFolder): Promise<void> {
  const { method, query, request, response } = call;
  const path = parsePeerPath(query.get('path'));
  const fd = openPeerFile(folder, path);
  if (fd === undefined) throw new DrayError('notFound', `There is no file ${path}.`, { data: { path } });
  try {
    const openedMs = Date.now();
    const stats = fstatSync(fd, { bigint: true });
    const stat = readStatOf({ descriptor: fd, stats, openedMs });
    const token = exactToken(stat);
    const wanted = request.headers['if-match'];
    if (wanted !== undefined && wanted !== `"${token}"`)
      throw new PeerRefusal(412, 'conflict', `${path} has changed.`);
    const range = parseRange(request.headers.range, stat.sizeBytes);
    const sizeBytes = range.end - range.start;
    const isSame = () => {
      const after = fstatSync(fd, { bigint: true });
      return after.mtimeNs === stats.mtimeNs && after.ctimeNs === stats.ctimeNs && after.size === stats.size;
    };
    const file = { fd, path, failedAt: failedReadsOf(folder) };
    const sum = query.get('sums') === 'crc64nvme' ? await sumOfFile(call, file, stat.sizeBytes) : undefined;
    // For a file that changed meanwhile the checksum fits no content, so it does not fit this token.
    const crc64 = isSame() ? sum : undefined;
    const first = method === 'GET' && sizeBytes > 0 ? await readFirst(file, range) : undefined;
    response.writeHead(range.isWhole ? 200 : 206, {
      [PEER_HEADER.protocol]: PEER_PROTOCOL,
      [PEER_HEADER.mtimeNs]: stat.mtimeNs.toString(),
      [PEER_HEADER.mode]: modeBits(stats.mode).toString(8),
      // The time as in a listing: absent while it proves nothing.
      ...(peerToken(stat, openedMs) === '' ? { [PEER_HEADER.isYoung]: '1' } : {}),
      ...(isSparse({ sizeBytes: stat.sizeBytes, blocks: Number(stats.blocks) })
        ? { [PEER_HEADER.isSparse]: '1' }
        : {}),
      ...(crc64 === undefined ? {} : { [PEER_HEADER.crc64]: crc64 }),
      etag: `"${token}"`,
      'accept-ranges': 'bytes',
      'content-type': 'application/octet-stream',
      'content-length': sizeBytes,
      'cache-control': 'no-store',
      ...(range.isWhole
        ? {}
        : { 'content-range': `bytes ${range.start}-${range.end - 1}/${stat.sizeBytes}` }),
    });
    if (first) await sendRange(call, { ...file, ...range, first, isSame });
    response.end();
  } finally {
    closeSync(fd);
  }
}

interface ReadFile {
  readonly fd: number;
  readonly path: string;
  readonly failedAt: Map<string, number>;
}

const FAILED_READS_MAX = 1_000;
const failedReads = new WeakMap<OfferedFolder, Map<string, number>>();

/** Where the last read of a file failed, by path. */
function failedReadsOf(folder: OfferedFolder): Map<string, number> {
  const known = failedReads.get(folder) ?? new Map<string, number>();
  failedReads.set(folder, known);
  return known;
}

interface FirstPiece {
  /** Has room for later pieces too. */
  readonly bytes: Buffer;
  readonly filled: number;
}

interface SentRange extends ReadFile {
  readonly start: number;
  readonly end: number;
  readonly first: FirstPiece;
  readonly isSame: () => boolean;
}

function newPiece({ end, start }: { readonly start: number; readonly end: number }): Buffer {
  return Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, end - start));
}

async function readFirst(
  file: ReadFile,
  range: { readonly start: number; readonly end: number },
): Promise<FirstPiece> {
  const bytes = newPiece(range);
  const failedAt = file.failedAt.get(file.path);
  if (failedAt !== undefined && failedAt >= range.start && failedAt < range.end) {
    await readPiece(file, bytes, Math.min(bytes.length, range.end - failedAt), failedAt);
    file.failedAt.delete(file.path);
  }
  return { bytes, filled: await readPiece(file, bytes, bytes.length, range.start) };
}

async function readPiece(file: ReadFile, into: Buffer, length: number, at: number): Promise<number> {
  const { failedAt, fd, path } = file;
  try {
    return (await readAt(fd, into, 0, length, at)).bytesRead;
  } catch (cause) {
    if (failedAt.size < FAILED_READS_MAX) failedAt.set(path, at);
    throw readError(path, cause);
  }
}

/**
 * The last piece is sent after all was read and the file is still the same. Without it the client sees that
 * the answer is short.
 */
async function sendRange({ response, signal }: PeerCall, range: SentRange): Promise<void> {
  const { end, first, isSame, start } = range;
  const wheel = Array.from({ length: PIECES_AT_ONCE }, (_, index) => ({
    bytes: index === 0 ? first.bytes : newPiece(range),
    /** The socket owns a piece until it is sent. */
    sent: Promise.resolve(),
  }));
  for (let at = start, turn = 0; at < end; turn += 1) {
    const piece = wheel[turn % wheel.length]!;
    await orAborted(piece.sent, signal);
    if (signal.aborted) throw gone();
    const length = Math.min(piece.bytes.length, end - at);
    const bytesRead = turn === 0 ? first.filled : await readPiece(range, piece.bytes, length, at);
    if (bytesRead === 0) throw new DrayError('io', 'The file became shorter while it was sent.');
    at += bytesRead;
    if (at === end && !isSame()) throw new DrayError('io', 'The file was changed while it was sent.');
    piece.sent = new Promise((resolve) => {
      response.write(piece.bytes.subarray(0, bytesRead), () => resolve());
    });
  }
}

function gone(): DrayError {
  return new DrayError('aborted', 'The client disconnected.');
}

/** The checksum of the file, computed by reading it in pieces, so that other requests get their turn. */
async function sumOfFile({ signal }: PeerCall, file: ReadFile, sizeBytes: number): Promise<string> {
  const piece = Buffer.allocUnsafeSlow(Math.min(SUMMED_BYTES, Math.max(1, sizeBytes)));
  let sum = 0n;
  for (let at = 0; at < sizeBytes; ) {
    if (signal.aborted) throw new DrayError('aborted', 'The client disconnected.');
    const bytesRead = await readPiece(file, piece, piece.length, at);
    if (bytesRead === 0) break;
    sum = crc64Nvme(piece.subarray(0, bytesRead), sum);
    at += bytesRead;
  }
  return formatCrc64(sum);
}

function parseRange(
  header: string | undefined,
  sizeBytes: number,
): { readonly start: number; readonly end: number; readonly isWhole: boolean } {
  if (header === undefined) return { start: 0, end: sizeBytes, isWhole: true };
  const match = /^bytes=(\d{1,16})-(\d{1,16})$/.exec(header);
  if (!match)
    throw new PeerRefusal(400, 'usage', `The range "${header}" is not supported. Use bytes=FIRST-LAST.`);
  const [start, last] = [Number(match[1]), Number(match[2])];
  if (start > last || start >= sizeBytes)
    throw new PeerRefusal(
      416,
      'damaged',
      `The range ${header} is past the end of the file (${sizeBytes} bytes).`,
    );
  return { start, end: Math.min(last + 1, sizeBytes), isWhole: false };
}
