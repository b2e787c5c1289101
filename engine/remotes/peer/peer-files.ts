/** Reads and writes files of a peer's folder by the calls of the protocol (`engine/peer/PROTOCOL.md`). */
import * as v from 'valibot';
import { DrayError, type ReceivedError } from '../../api/error.ts';
import { crc64Nvme, formatCrc64 } from '../../checksums/crc64-nvme.ts';
import type { HeldPart } from '../../model/held-part.ts';
import {
  EntryPageSchema,
  EntryRowSchema,
  isWritten,
  PEER_HEADER,
  PEER_LIMITS,
  type PeerEntryRow,
  type PeerReadResult,
  type PeerWriteResult,
  ReadResultSchema,
  type WriteItem,
  WriteResultSchema,
} from '../../peer-protocol/messages.ts';
import { checkReadSize } from '../byte-range.ts';
import type { FileTouch } from '../file-calls.ts';
import type { ByteRange } from '../object-store.ts';
import {
  malformedAnswer,
  type PeerAnswer,
  type PeerClient,
  type PeerStream,
  parseAnswer,
} from './peer-client.ts';
import { linesOf } from './peer-lines.ts';

export interface PeerListOptions {
  /** A folder, '' for all. */
  readonly below: string;
  /** Only entries after this path, which is relative to `below`. */
  readonly after?: string;
  readonly limit?: number;
  /** One level only: a folder with contents stands for all of them. */
  readonly folded?: boolean;
  /** Include folders with contents, and the listed one first, under '', if the peer supports it. */
  readonly folders?: boolean;
  readonly signal: AbortSignal;
  /** Entries that the peer could not list. */
  readonly onProblem: (message: string) => void;
  /** Asks for them. */
  readonly onPart?: ((part: HeldPart) => void) | undefined;
}

export interface PeerFileInfo {
  readonly sizeBytes: number;
  readonly mtimeNs: bigint;
  readonly mode: number;
  /** Identifies this content; for `If-Match`. */
  readonly etag: string;
  /** As in a listing: '' while the file is too recent. */
  readonly token: string;
  /** The sum of the whole content, on request: the peer reads the file for it. */
  readonly crc64?: bigint;
  readonly isSparse?: true;
}

/** In byte order, while the peer still walks. @throws DrayError `notFound`, `damaged` if it ends early. */
export async function* listPeerEntries(
  client: PeerClient,
  options: PeerListOptions,
): AsyncGenerator<readonly PeerEntryRow[]> {
  const { after, below, folded = false, folders = false, limit, onPart, onProblem, signal } = options;
  const query = new URLSearchParams({ path: below });
  if (after !== undefined) query.set('after', after);
  if (limit !== undefined) query.set('limit', String(limit));
  if (folded) query.set('folded', '1');
  if (folders) query.set('folders', '1');
  if (onPart) query.set('parts', '1');
  const { body } = await client.stream({ method: 'GET', route: `entries?${query}`, signal });
  let isEnded = false;
  for await (const line of linesOf(client.address, body)) {
    const page = parseAnswer(client.address, line, EntryPageSchema);
    if ('end' in page) {
      isEnded = true;
      for (const problem of page.problems ?? []) onProblem(problem);
      for (const part of page.parts ?? []) onPart?.(part);
    } else yield parseRows(client.address, page.entries);
  }
  if (!isEnded)
    throw new DrayError('unreachable', `The listing of ${client.address} ended early.`, { retry: 'retry' });
}

/** Checked by hand: a schema costs more than the rest of a row. */
function parseRows(address: string, rows: readonly unknown[]): readonly PeerEntryRow[] {
  for (const row of rows) {
    if (isRow(row)) continue;
    const parsed = v.safeParse(EntryRowSchema, row);
    if (!parsed.success)
      throw new DrayError('damaged', `${address} lists an invalid entry.`, { data: { address } });
  }
  return rows as readonly PeerEntryRow[];
}

function isRow(row: unknown): row is PeerEntryRow {
  if (!Array.isArray(row) || (row.length !== 6 && row.length !== 7)) return false;
  const [path, kind, sizeBytes, mtimeMs, mode, token] = row as readonly unknown[];
  return (
    typeof path === 'string' &&
    (kind === 'f' || kind === 'd' || kind === 'D' || (kind === 'l' && typeof row[6] === 'string')) &&
    Number.isSafeInteger(sizeBytes) &&
    typeof mtimeMs === 'number' &&
    Number.isInteger(mode) &&
    typeof token === 'string'
  );
}

const Offer = v.object({ readOnly: v.boolean() });

export async function isPeerReadOnly(client: PeerClient, signal: AbortSignal): Promise<boolean> {
  const { bytes } = await client.call({ method: 'GET', route: '', answerBytesMax: OFFER_BYTES_MAX, signal });
  return parseAnswer(client.address, bytes, Offer).readOnly;
}
const OFFER_BYTES_MAX = 64 * 1024;

/** The answer of `HEAD`, or undefined if there is no such file. */
export async function headPeerFile(
  client: PeerClient,
  path: string,
  { checksums, signal }: { readonly checksums: boolean; readonly signal: AbortSignal },
): Promise<PeerFileInfo | undefined> {
  const route = contentRoute(path) + (checksums ? '&sums=crc64nvme' : '');
  return absentAsUndefined(async () => {
    const { headers } = await client.call({ method: 'HEAD', route, answerBytesMax: 0, signal });
    return infoOf(client, headers);
  });
}

export interface PeerFileRead {
  readonly info: PeerFileInfo;
  /** The size of the body, which is the range if one was requested. */
  readonly sizeBytes: number;
  readonly body: PeerStream['body'];
}

export interface PeerFileRequest {
  readonly range?: ByteRange;
  readonly ifMatch?: string;
  readonly signal: AbortSignal;
}

/** As a stream, undefined if there is no such file. @throws DrayError `conflict` if it is not `ifMatch`. */
export async function getPeerFile(
  client: PeerClient,
  path: string,
  request: PeerFileRequest,
): Promise<PeerFileRead | undefined> {
  return absentAsUndefined(async () => {
    const { body, headers } = await client.stream(contentRequest(path, request));
    return { ...sizesOf(client, headers), body };
  });
}

/** The same in memory, straight from the network. @throws DrayError `damaged` above `maxBytes`. */
export async function readPeerFile(
  client: PeerClient,
  path: string,
  { into, maxBytes, ...request }: PeerFileRequest & { readonly maxBytes: number; readonly into?: Uint8Array },
): Promise<{ readonly info: PeerFileInfo; readonly bytes: Uint8Array } | undefined> {
  return absentAsUndefined(async () => {
    const { bytes, headers } = await client.call({
      ...contentRequest(path, request),
      answerBytesMax: maxBytes,
      ...(into ? { into } : {}),
    });
    checkReadSize(path, bytes.byteLength, maxBytes);
    return { info: sizesOf(client, headers).info, bytes };
  });
}

function contentRequest(path: string, { ifMatch, range, signal }: PeerFileRequest) {
  return {
    method: 'GET',
    route: contentRoute(path),
    headers: {
      ...(range ? { range: `bytes=${range.start}-${range.end - 1}` } : {}),
      ...(ifMatch === undefined ? {} : { 'if-match': `"${ifMatch}"` }),
    },
    signal,
  } as const;
}

/** `sizeBytes` of the body, `info` of the whole file. */
function sizesOf(
  client: PeerClient,
  headers: PeerAnswer['headers'],
): { readonly info: PeerFileInfo; readonly sizeBytes: number } {
  const total = /\/(\d+)$/.exec(String(headers['content-range'] ?? ''))?.[1];
  const info = infoOf(client, headers);
  const { sizeBytes } = info;
  return { info: total === undefined ? info : { ...info, sizeBytes: Number(total) }, sizeBytes };
}

async function absentAsUndefined<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    // `unsupported`: the answer is not a peer's, or the peer does not support the request.
    const isAbsent = error instanceof DrayError && error.data.status === 404 && error.code !== 'unsupported';
    if (isAbsent) return undefined;
    throw error;
  }
}

export interface PeerReadBatch {
  /** In the requested order; fewer if the contents would be too large: ask for the rest again. */
  readonly results: readonly PeerReadResult[];
  /** The contents of the files that have one, one after another. */
  readonly contents: Uint8Array;
}

const ReadHead = v.object({ results: v.array(ReadResultSchema) });

export async function readPeerFiles(
  client: PeerClient,
  { into, paths }: { readonly paths: readonly string[]; readonly into?: Uint8Array },
  signal: AbortSignal,
): Promise<PeerReadBatch> {
  const { bytes, headers } = await client.call({
    method: 'POST',
    route: 'read',
    body: Buffer.from(JSON.stringify({ paths })),
    answerBytesMax: PEER_LIMITS.jsonBytesMax + PEER_LIMITS.batchBytesMax,
    ...(into ? { into } : {}),
    signal,
  });
  const headBytes = Number(headers[PEER_HEADER.headBytes]);
  if (!Number.isSafeInteger(headBytes) || headBytes > bytes.byteLength) throw malformedAnswer(client);
  const { results } = parseAnswer(client.address, bytes.subarray(0, headBytes), ReadHead);
  const contents = bytes.subarray(headBytes);
  let at = 0;
  for (const result of results) {
    if ('error' in result) continue;
    const content = contents.subarray(at, at + result.sizeBytes);
    at += result.sizeBytes;
    if (sumOf(content) !== result.crc64)
      throw new DrayError('checksumRefused', `A file of ${client.address} was damaged on its way.`, {
        retry: 'retry',
      });
  }
  if (at !== contents.byteLength || results.length === 0 || results.length > paths.length)
    throw malformedAnswer(client);
  return { results, contents };
}

const WriteAnswer = v.object({ results: v.array(v.unknown()) });

/** @param contents Of the files among the items, one after another. */
export async function writePeerFiles(
  client: PeerClient,
  { contents, items }: { readonly items: readonly WriteItem[]; readonly contents: readonly Uint8Array[] },
  signal: AbortSignal,
): Promise<readonly PeerWriteResult[]> {
  const head = Buffer.from(JSON.stringify({ items }));
  const { bytes } = await client.call({
    method: 'POST',
    route: 'write',
    headers: { [PEER_HEADER.headBytes]: String(head.length) },
    body: Buffer.concat([head, ...contents]),
    answerBytesMax: PEER_LIMITS.jsonBytesMax,
    signal,
  });
  const { results } = parseAnswer(client.address, bytes, WriteAnswer);
  if (results.length !== items.length) throw malformedAnswer(client);
  for (const result of results)
    if (!isWritten(result) && !v.is(WriteResultSchema, result)) throw malformedAnswer(client);
  return results as readonly PeerWriteResult[];
}

const PeerErrorSchema = v.object({
  code: v.string(),
  message: v.string(),
  retry: v.optional(v.picklist(['no', 'retry', 'backoff'])),
  data: v.optional(v.record(v.string(), v.unknown())),
});
const RemoveAnswer = v.object({ errors: v.array(v.nullable(PeerErrorSchema)) });

/** One per path: the error that kept it from being removed, or null. */
export async function removePeerFiles(
  client: PeerClient,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<readonly (ReceivedError | null)[]> {
  const { errors } = await client.ask('remove', { paths }, RemoveAnswer, signal);
  if (errors.length !== paths.length) throw malformedAnswer(client);
  return errors;
}

const Touched = v.object({ token: v.string(), mtimeMs: v.number() });

export async function touchPeerFile(
  client: PeerClient,
  { mode, mtimeNs, path }: { readonly path: string } & FileTouch,
  signal: AbortSignal,
): Promise<string> {
  const to = {
    ...(mtimeNs === undefined ? {} : { mtimeNs: mtimeNs.toString() }),
    ...(mode === undefined ? {} : { mode }),
  };
  const { token } = await client.ask('touch', { path, ...to }, Touched, signal);
  return token;
}

/** Copies a file or a link at the peer itself, over anything at `to`. */
export async function keepPeerFile(
  client: PeerClient,
  paths: { readonly from: string; readonly to: string },
  signal: AbortSignal,
): Promise<void> {
  await client.ask('keep', paths, Nothing, signal);
}

/** Resolves once all earlier writes are on the peer's disk, or at once if the peer is too old for it. */
export async function syncPeerFiles(client: PeerClient, signal: AbortSignal): Promise<void> {
  try {
    await client.ask('sync', {}, Nothing, signal);
  } catch (error) {
    if (!(error instanceof DrayError) || error.code !== 'unsupported') throw error;
  }
}

const Nothing = v.object({});

export interface PeerUpload {
  readonly id: string;
  /** Starts of ranges that are already there. */
  readonly received: ReadonlySet<number>;
}

export interface BeginUpload {
  readonly path: string;
  /**
   * Absent: given at completion. Then the upload cannot be resumed, and every range has `rangeBytes` but the
   * last.
   */
  readonly sizeBytes?: number;
  readonly mtimeNs: bigint;
  readonly mode?: number;
  /**
   * Identifies the content; with it an interrupted upload of the same content resumes. Absent: only the
   * upload's number identifies it.
   */
  readonly content?: string;
  readonly rangeBytes: number;
  /** Only resume: `notFound` if there is nothing to resume. */
  readonly resume?: boolean;
}

const Begun = v.object({
  upload: v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/)),
  received: v.array(v.number()),
});

export async function beginPeerUpload(
  client: PeerClient,
  { mtimeNs, ...rest }: BeginUpload,
  signal: AbortSignal,
): Promise<PeerUpload> {
  const { received, upload } = await client.ask(
    'uploads',
    { ...rest, mtimeNs: mtimeNs.toString() },
    Begun,
    signal,
  );
  return { id: upload, received: new Set(received) };
}

/** @returns The checksum of the bytes. */
export async function putPeerRange(
  client: PeerClient,
  {
    bytes,
    start,
    sum = crc64Nvme(bytes),
    upload,
  }: {
    readonly upload: PeerUpload;
    readonly start: number;
    readonly bytes: Uint8Array;
    /** The sum of the bytes, if it is known. */
    readonly sum?: bigint | undefined;
  },
  signal: AbortSignal,
): Promise<bigint> {
  await client.call({
    method: 'PUT',
    route: `uploads/${upload.id}?at=${start}`,
    headers: { [PEER_HEADER.crc64]: formatCrc64(sum) },
    body: bytes,
    answerBytesMax: 0,
    signal,
  });
  return sum;
}

const Completed = v.object({ token: v.string(), crc64: v.pipe(v.string(), v.regex(/^[0-9a-f]{16}$/)) });

/** @param whole `crc64`: if given, a mismatch is refused. `sizeBytes`: for an upload begun without it. */
export async function completePeerUpload(
  client: PeerClient,
  upload: PeerUpload,
  { crc64, sizeBytes }: { readonly crc64?: bigint | undefined; readonly sizeBytes?: number | undefined },
  signal: AbortSignal,
): Promise<{ readonly token: string; readonly crc64: bigint }> {
  const done = await client.ask(
    `uploads/${upload.id}/complete`,
    {
      ...(crc64 === undefined ? {} : { crc64: formatCrc64(crc64) }),
      ...(sizeBytes === undefined ? {} : { sizeBytes }),
    },
    Completed,
    signal,
  );
  return { token: done.token, crc64: BigInt(`0x${done.crc64}`) };
}

export async function discardPeerUpload(
  client: PeerClient,
  upload: PeerUpload,
  signal: AbortSignal,
): Promise<void> {
  await client.call({ method: 'DELETE', route: `uploads/${upload.id}`, answerBytesMax: 0, signal });
}

export function sumOf(bytes: Uint8Array): string {
  return formatCrc64(crc64Nvme(bytes));
}

function contentRoute(path: string): string {
  return `content?${new URLSearchParams({ path })}`;
}

function infoOf({ address }: PeerClient, headers: PeerAnswer['headers']): PeerFileInfo {
  const parsed = v.safeParse(ContentHeaders, headers);
  if (!parsed.success)
    throw new DrayError('damaged', `${address} sent an answer without its length or checksum.`, {
      data: { address },
    });
  const { [PEER_HEADER.crc64]: crc64, [PEER_HEADER.isYoung]: young, etag } = parsed.output;
  return {
    sizeBytes: Number(parsed.output['content-length']),
    mtimeNs: BigInt(parsed.output[PEER_HEADER.mtimeNs]),
    mode: Number.parseInt(parsed.output[PEER_HEADER.mode], 8),
    etag: etag.slice(1, -1),
    token: young === undefined ? etag.slice(1, -1) : '',
    ...(crc64 === undefined ? {} : { crc64: BigInt(`0x${crc64}`) }),
    ...(parsed.output[PEER_HEADER.isSparse] === undefined ? {} : { isSparse: true }),
  };
}

const ContentHeaders = v.object({
  etag: v.pipe(v.string(), v.regex(/^".+"$/)),
  'content-length': v.pipe(v.string(), v.regex(/^\d{1,16}$/)),
  [PEER_HEADER.mtimeNs]: v.pipe(v.string(), v.regex(/^-?\d{1,20}$/)),
  [PEER_HEADER.mode]: v.pipe(v.string(), v.regex(/^[0-7]{1,4}$/)),
  [PEER_HEADER.isYoung]: v.optional(v.string()),
  [PEER_HEADER.isSparse]: v.optional(v.string()),
  [PEER_HEADER.crc64]: v.optional(v.pipe(v.string(), v.regex(/^[0-9a-f]{16}$/))),
});
