/**
 * A folder of a peer as an object store with all promises of the contract: the peer's own file store, over
 * the network. For repositories.
 */
import { DrayError } from '../../api/error.ts';
import { comparePaths } from '../../model/entry.ts';
import { PEER_HEADER, PEER_LIMITS } from '../../peer-protocol/messages.ts';
import {
  OBJECT_ANSWERS,
  type ObjectAnswer,
  type ObjectCall,
  objectJson,
} from '../../peer-protocol/objects.ts';
import { checkReadSize } from '../byte-range.ts';
import { advance, checkListed, positionFrom } from '../listing-advance.ts';
import type {
  CallOptions,
  CopySource,
  GetOptions,
  ListPage,
  ListRequest,
  MultipartStore,
  ObjectRead,
  ObjectStore,
  PutOptions,
  PutOutcome,
  ReadOptions,
} from '../object-store.ts';
import { putStreamInParts } from '../stream-in-parts.ts';
import { type PeerClient, type PeerStream, parseAnswer } from './peer-client.ts';
import { putLarge } from './put-large.ts';

const ANSWER_BYTES_MAX = 16 * 1024 * 1024;

/** @param at A folder of the peer's, '' for the served folder. The store owns the client. */
export function createPeerObjectStore(client: PeerClient, at: string): ObjectStore {
  const never = new AbortController().signal;
  const route = (name: ObjectCall) => `objects/${name}?${new URLSearchParams({ at })}`;

  const ask = async <K extends ObjectCall>(
    name: K,
    input: object,
    options: CallOptions = {},
    bytes?: Uint8Array,
  ): Promise<ObjectAnswer<K>> => {
    const head = Buffer.from(objectJson(input));
    const answer = await client.call({
      method: 'POST',
      route: route(name),
      headers: { [PEER_HEADER.headBytes]: String(head.length) },
      body: bytes ? Buffer.concat([head, bytes]) : head,
      answerBytesMax: ANSWER_BYTES_MAX,
      signal: options.signal ?? never,
    });
    return parseAnswer(client.address, answer.bytes, OBJECT_ANSWERS[name]) as ObjectAnswer<K>;
  };

  const get = async (key: string, options: GetOptions = {}): Promise<ObjectRead | undefined> => {
    const { ifMatch, range, signal = never } = options;
    const body = Buffer.from(
      objectJson({ key, ...(range ? { range } : {}), ...(ifMatch === undefined ? {} : { ifMatch }) }),
    );
    let stream: PeerStream;
    try {
      stream = await client.stream({ method: 'POST', route: route('get'), body, signal });
    } catch (error) {
      if (error instanceof DrayError && error.code === 'notFound' && error.data.isAbsent === true)
        return undefined;
      throw error;
    }
    return readOf(client, stream);
  };

  const multipart = createMultipart(ask);
  const parts = {
    head: async (key: string, options: CallOptions = {}) =>
      plain((await ask('head', { key }, options)).info ?? undefined),
    put: async (key: string, bytes: Uint8Array, options: PutOptions = {}) => {
      if (bytes.byteLength > PEER_LIMITS.bodyBytesMax) return putLarge(multipart, key, bytes, options);
      const { checksum, condition, signal } = options;
      return outcomeOf(await ask('put', { key, checksum, condition }, signal ? { signal } : {}, bytes));
    },
    multipart,
  };

  return {
    address: `${client.address}${at === '' ? '' : `/${at}`}`,
    provider: 'local',
    confirmsWrites: true,
    head: parts.head,
    get,
    async read(key, options) {
      const read = await get(key, options);
      return read && { bytes: await readWhole(key, read, options), etag: read.etag, info: read.info };
    },
    put: parts.put,
    putStream: (key, body, options = {}) => putStreamInParts(parts, key, body, options),
    list: async (request, options) => {
      const position = positionFrom(request.continuation);
      const asked = { ...request, ...(position.token === undefined ? {} : { continuation: position.token }) };
      const page: ListPage = plain(await ask('list', asked, options));
      checkPage(request, page);
      return advance(page, position);
    },
    async delete(keys, { ifMatch, signal } = {}) {
      for (let from = 0; from < keys.length; from += 1_000)
        await ask('delete', { keys: keys.slice(from, from + 1_000), ifMatch }, signal ? { signal } : {});
    },
    copy: async (from, to, { condition, ifMatch, signal } = {}) =>
      outcomeOf(await ask('copy', { from: ownKey(from), to, condition, ifMatch }, signal ? { signal } : {})),
    multipart,
    close: () => client.close(),
  };
}

/** A peer lists in byte order. @throws `remoteFailed` for keys that were not asked for */
function checkPage({ continuation, prefix, startAfter }: ListRequest, { folders, objects }: ListPage): void {
  let last = continuation === undefined ? startAfter : undefined;
  const isAfter = (key: string) => {
    const isLater = last === undefined || comparePaths(key, last) > 0;
    last = key;
    return isLater;
  };
  checkListed(
    objects.map(({ key }) => key),
    (key) => key.startsWith(prefix) && isAfter(key),
  );
  checkListed(folders, (folder) => folder.startsWith(prefix));
}

async function readWhole(key: string, read: ObjectRead, options: ReadOptions): Promise<Uint8Array> {
  const { body, sizeBytes } = read;
  const { into, maxBytes, signal } = options;
  try {
    checkReadSize(key, sizeBytes, maxBytes);
    const bytes =
      into && into.byteLength >= sizeBytes ? into.subarray(0, sizeBytes) : new Uint8Array(sizeBytes);
    let filled = 0;
    for await (const piece of body) {
      if (signal?.aborted) throw new DrayError('aborted', 'Stopped on request.');
      bytes.set(piece, filled);
      filled += piece.byteLength;
    }
    return bytes;
  } finally {
    body.destroy();
  }
}

type Ask = <K extends ObjectCall>(
  name: K,
  input: object,
  options?: CallOptions,
  bytes?: Uint8Array,
) => Promise<ObjectAnswer<K>>;

function createMultipart(ask: Ask): MultipartStore {
  const callOf = ({ signal }: CallOptions = {}) => (signal ? { signal } : {});
  return {
    putStreamBy: putStreamInParts,
    partBytesMax: PEER_LIMITS.bodyBytesMax,
    create: async (key, { checksum, ...options } = {}) =>
      (await ask('create', { key, checksum }, callOf(options))).uploadId,
    uploadPart: async ({ key, uploadId }, number, bytes, { checksum, ...options } = {}) =>
      plain(await ask('uploadPart', { key, uploadId, number, checksum }, callOf(options), bytes)),
    uploadPartCopy: async ({ key, uploadId }, number, { ifMatch, key: from, range }, options) =>
      plain(
        await ask(
          'uploadPartCopy',
          { key, uploadId, number, from: ownKey(from), range, ifMatch },
          callOf(options),
        ),
      ),
    listParts: async ({ key, uploadId }, options) =>
      (await ask('listParts', { key, uploadId }, callOf(options))).parts.map(plain),
    complete: async ({ key, uploadId }, parts, { checksum, condition, ...options } = {}) =>
      outcomeOf(await ask('complete', { key, uploadId, parts, checksum, condition }, callOf(options))),
    abort: async ({ key, uploadId }, options) => {
      await ask('abort', { key, uploadId }, callOf(options));
    },
    listUploads: async (request, options) => plain(await ask('listUploads', request, callOf(options))),
  };
}

function ownKey(source: CopySource): string {
  if (typeof source === 'string') return source;
  throw new DrayError('unsupported', 'A peer copies only within one folder.');
}

function outcomeOf(answer: ObjectAnswer<'put'>): PutOutcome {
  return plain(answer) as PutOutcome;
}

/** Drops properties that a schema leaves undefined. */
function plain<T>(value: T): Plain<T> {
  if (typeof value !== 'object' || value === null) return value as Plain<T>;
  for (const [name, each] of Object.entries(value))
    if (each === undefined) delete (value as Record<string, unknown>)[name];
  return value as Plain<T>;
}

// biome-ignore lint/suspicious/noExplicitAny: the types of the contract distinguish absent from undefined, those of the schemas do not.
type Plain<T> = T extends undefined ? undefined : any;

/** The head comes first, then the content. */
async function readOf(client: PeerClient, { body, headers }: PeerStream): Promise<ObjectRead> {
  const headBytes = Number(headers[PEER_HEADER.headBytes]);
  if (!Number.isSafeInteger(headBytes) || headBytes > PEER_LIMITS.jsonBytesMax) {
    body.destroy();
    throw new DrayError('damaged', `${client.address} sent an answer without its length.`);
  }
  const pieces = body[Symbol.asyncIterator]();
  let held = Buffer.alloc(0);
  try {
    while (held.length < headBytes) {
      const { done, value } = await pieces.next();
      if (done) throw new DrayError('damaged', `${client.address} ended its answer early.`);
      held = Buffer.concat([held, value]);
    }
  } catch (error) {
    body.destroy();
    throw error;
  }
  const { info, sizeBytes } = parseAnswer(client.address, held.subarray(0, headBytes), OBJECT_ANSWERS.get);
  const first = held.subarray(headBytes);
  async function* content() {
    if (first.length > 0) yield first;
    for (;;) {
      const { done, value } = await pieces.next();
      if (done) return;
      yield value;
    }
  }
  const content_ = Object.assign(content(), { destroy: () => body.destroy() });
  return { sizeBytes, etag: info.etag, body: content_, info: plain(info) };
}
