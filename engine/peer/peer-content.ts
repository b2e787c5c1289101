/** `GET` and `HEAD /v1/content`: one file, or a range of it. */
import { closeSync, fstatSync, read } from 'node:fs';
import { promisify } from 'node:util';
import { DrayError } from '../api/error.ts';
import { orAborted } from '../base/abort.ts';
import { crc64Nvme, formatCrc64 } from '../checksums/crc64-nvme.ts';
import { readStatOf } from '../files/read/open-file.ts';
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
 * the file changes while it is sent.
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
    const sum = query.get('sums') === 'crc64nvme' ? await sumOfFile(call, fd, stat.sizeBytes) : undefined;
    // For a file that changed meanwhile the checksum fits no content, so it does not fit this token.
    const crc64 = isSame() ? sum : undefined;
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
    if (method === 'GET') await sendRange(call, { fd, ...range, isSame });
    response.end();
  } finally {
    closeSync(fd);
  }
}

/**
 * The last piece is sent after all was read and the file is still the same. Without it the client sees that
 * the answer is short.
 */
async function sendRange(
  { response, signal }: PeerCall,
  {
    end,
    fd,
    isSame,
    start,
  }: {
    readonly fd: number;
    readonly start: number;
    readonly end: number;
    readonly isSame: () => boolean;
  },
): Promise<void> {
  const wheel = Array.from({ length: PIECES_AT_ONCE }, () => ({
    bytes: Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, end - start)),
    /** The socket owns a piece until it is sent. */
    sent: Promise.resolve(),
  }));
  for (let at = start, turn = 0; at < end; turn += 1) {
    const piece = wheel[turn % wheel.length]!;
    await orAborted(piece.sent, signal);
    if (signal.aborted) throw gone();
    const { bytesRead } = await readAt(fd, piece.bytes, 0, Math.min(piece.bytes.length, end - at), at);
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
async function sumOfFile({ signal }: PeerCall, fd: number, sizeBytes: number): Promise<string> {
  const piece = Buffer.allocUnsafeSlow(Math.min(SUMMED_BYTES, Math.max(1, sizeBytes)));
  let sum = 0n;
  for (let at = 0; at < sizeBytes; ) {
    if (signal.aborted) throw new DrayError('aborted', 'The client disconnected.');
    const { bytesRead } = await readAt(fd, piece, 0, piece.length, at);
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
