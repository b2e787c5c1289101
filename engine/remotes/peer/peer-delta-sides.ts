/** The sides of a block delta at a peer. */
import * as v from 'valibot';
import type { BlockSignature } from '../../checksums/block-digest.ts';
import type { DeltaChunks, DeltaFile, DeltaTarget } from '../../model/delta-sides.ts';
import { DELTA_CHUNK_SIZE, totalBytes } from '../../model/delta-sides.ts';
import { type DeltaCall, type DeltaOpen, DeltaOpenedSchema } from '../../peer-protocol/deltas.ts';
import { PEER_HEADER } from '../../peer-protocol/messages.ts';
import { malformedAnswer, type PeerClient, parseAnswer } from './peer-client.ts';

type Opening = Omit<DeltaOpen, 'side' | 'isInPlace' | 'isDryRun' | 'mtimeNs' | 'mode'>;

export function deltaOpening(path: string, { blockBytes, hash, seed }: BlockSignature): Opening {
  return { path, hash, blockBytes, seed: seed.toString(16), chunkSize: DELTA_CHUNK_SIZE };
}

const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
const Nothing = v.object({});
/** Peers without support for tokens sent nothing. */
const Completed = v.object({ token: v.optional(v.string()) });
const Starts = v.object({ starts: v.picklist(['old', 'zeros']) });
const ReadHead = v.object({ digestBytes: v.number() });
const CutHead = v.object({ chunks: v.number() });

export async function openPeerDeltaSource(
  client: PeerClient,
  opening: Opening,
  signal: AbortSignal,
): Promise<DeltaFile> {
  const opened = await client.ask('deltas', { side: 'source', ...opening }, DeltaOpenedSchema, signal);
  const calls = callsOf(client, opened.delta);
  return {
    sizeBytes: opened.sizeBytes,
    mtimeNs: BigInt(opened.mtimeNs ?? 0),
    mode: opened.mode ?? 0o644,
    token: opened.token ?? '',
    sign: calls.sign,
    cut: calls.cut,
    async read(ranges, into, { sign, signal: stop }) {
      const { bytes, head } = await calls.send('read', { ranges: [...ranges], sign }, undefined, stop);
      const { digestBytes } = parseAnswer(client.address, head, ReadHead);
      if (bytes.length - digestBytes !== totalBytes(ranges)) throw malformedAnswer(client);
      into.set(bytes.subarray(digestBytes));
      return sign ? bytes.subarray(0, digestBytes) : undefined;
    },
    async checkUnchanged() {
      await calls.ask('check', {}, signal);
    },
    close: () => calls.end(),
  };
}

export async function openPeerDeltaTarget(
  client: PeerClient,
  opening: Omit<DeltaOpen, 'side'>,
  signal: AbortSignal,
): Promise<DeltaTarget> {
  const opened = await client.ask('deltas', { side: 'target', ...opening }, DeltaOpenedSchema, signal);
  const calls = callsOf(client, opened.delta);
  let isEnded = false;
  return {
    oldBytes: opened.sizeBytes,
    isInPlace: opening.isInPlace ?? false,
    sign: calls.sign,
    cut: calls.cut,
    begin: async (wish) => {
      const { starts } = await client.ask(`deltas/${opened.delta}/begin`, wish, Starts, signal);
      return starts;
    },
    write: async (ranges, bytes, stop) =>
      (await calls.send('write', { ranges: [...ranges] }, bytes, stop)).bytes,
    clear: async (ranges, stop) => {
      await calls.ask('clear', { ranges: [...ranges] }, stop);
    },
    copy: async (moves, stop) => {
      await calls.ask('copy', { moves: [...moves] }, stop);
    },
    async complete() {
      const { token = '' } = await client.ask(`deltas/${opened.delta}/complete`, {}, Completed, signal);
      isEnded = true;
      return token;
    },
    async discard() {
      if (isEnded) return;
      isEnded = true;
      await calls.end();
    },
  };
}

function callsOf(client: PeerClient, id: string) {
  const send = async (name: DeltaCall, input: object, bytes: Uint8Array | undefined, signal: AbortSignal) => {
    const head = Buffer.from(JSON.stringify(input));
    const answer = await client.call({
      method: 'POST',
      route: `deltas/${id}/${name}`,
      headers: { [PEER_HEADER.headBytes]: String(head.length) },
      lead: head,
      ...(bytes ? { body: bytes } : {}),
      answerBytesMax: ANSWER_BYTES_MAX,
      signal,
    });
    const headBytes = Number(answer.headers[PEER_HEADER.headBytes]);
    if (!Number.isSafeInteger(headBytes) || headBytes > answer.bytes.length) throw malformedAnswer(client);
    return { head: answer.bytes.subarray(0, headBytes), bytes: answer.bytes.subarray(headBytes) };
  };
  return {
    send,
    sign: async (start: number, end: number, signal: AbortSignal) =>
      (await send('sign', { start, end }, undefined, signal)).bytes,
    async cut(signal: AbortSignal): Promise<DeltaChunks> {
      const { bytes, head } = await send('cut', {}, undefined, signal);
      const { chunks } = parseAnswer(client.address, head, CutHead);
      if (chunks * 4 > bytes.length) throw malformedAnswer(client);
      const lengths = new Uint32Array(chunks);
      new Uint8Array(lengths.buffer).set(bytes.subarray(0, chunks * 4));
      return { lengths, digests: bytes.slice(chunks * 4) };
    },
    ask: (name: DeltaCall, input: object, signal: AbortSignal) =>
      client.ask(`deltas/${id}/${name}`, input, Nothing, signal),
    /** Runs even after a stop, so that the peer frees its memory and files. */
    async end() {
      const signal = AbortSignal.timeout(5_000);
      await client
        .call({ method: 'DELETE', route: `deltas/${id}`, answerBytesMax: 0, signal })
        .catch(() => {});
    },
  };
}
