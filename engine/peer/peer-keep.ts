/**
 * `POST /v1/keep`: copies a file or a link within the offered folder, before the client replaces or removes
 * it.
 */
import { closeSync, fstatSync, read } from 'node:fs';
import { promisify } from 'node:util';
import * as v from 'valibot';
import { DrayError } from '../api/error.ts';
import { modeBits, travelling } from '../model/special-modes.ts';
import { answerJson, type PeerCall, PeerRefusal, receiveJson } from './peer-call.ts';
import { openPeerFile, parsePeerPath, readPeerLink } from './peer-paths.ts';
import type { WriteParts } from './peer-writes.ts';

const Keep = v.strictObject({ from: v.string(), to: v.string() });
const PIECE_BYTES = 1024 * 1024;
const readAt = promisify(read);

/** A missing file needs no copy. */
export async function answerKeep(call: PeerCall, parts: WriteParts): Promise<void> {
  const { budget, folder, writer } = parts;
  const wish = await receiveJson(call, { budget, schema: Keep, form: '{"from":"...","to":"..."}' });
  const [from, to] = [parsePeerPath(wish.from), parsePeerPath(wish.to)];
  if (from === to)
    throw new PeerRefusal(400, 'usage', 'A file cannot be kept under its own name. Use another name.');
  const target = readPeerLink(folder, from);
  if (target === undefined) await copyFile(call, parts, { from, to });
  else writer.writeLink(to, target);
  answerJson(call.response, 200, {});
}

async function copyFile(
  { signal }: PeerCall,
  { folder, specialModes, writer }: WriteParts,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  const fd = openPeerFile(folder, from);
  if (fd === undefined) return;
  try {
    const { mode, mtimeNs, size } = fstatSync(fd, { bigint: true });
    const sizeBytes = Number(size);
    const file = await writer.openLarge({
      path: to,
      sizeBytes,
      mtimeNs,
      executable: false,
      ...travelling(modeBits(mode), { specialModes }),
    });
    try {
      await file.writeStream(piecesOf(fd, sizeBytes, signal));
      await file.commit();
    } finally {
      await file.discard();
    }
  } finally {
    closeSync(fd);
  }
}

async function* piecesOf(fd: number, sizeBytes: number, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < sizeBytes; ) {
    if (signal.aborted) throw new DrayError('aborted', 'The client disconnected.');
    const piece = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, sizeBytes - at));
    const { bytesRead } = await readAt(fd, piece, 0, piece.length, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield piece.subarray(0, bytesRead);
  }
}
