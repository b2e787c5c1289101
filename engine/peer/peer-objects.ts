/**
 * `POST /v1/objects/CALL?at=FOLDER`: the offered folder, or one in it, as an object store with all its
 * promises, for repositories. The calls are those of `remotes/object-store.ts`; the file store executes them.
 */
import * as v from 'valibot';
import { DrayError } from '../api/error.ts';
import type { Budget } from '../base/budget.ts';
import { PEER_HEADER, PEER_LIMITS, PEER_PROTOCOL } from '../peer-protocol/messages.ts';
import { OBJECT_CALLS, type ObjectCall, type ObjectCallInput, objectJson } from '../peer-protocol/objects.ts';
import { openFileStore } from '../remotes/file/file-store.ts';
import type { ListRequest, MultipartStore, ObjectStore } from '../remotes/object-store.ts';
import {
  answerJsonText,
  type Body,
  drained,
  type PeerCall,
  PeerRefusal,
  parseJson,
  readOnlyRefusal,
  receiveBody,
} from './peer-call.ts';
import { type OfferedFolder, parsePeerPath } from './peer-paths.ts';

export interface PeerObjects {
  answer(call: PeerCall, name: string): Promise<void>;
  close(): Promise<void>;
}

export interface PeerObjectsOptions {
  readonly folder: OfferedFolder;
  readonly budget: Budget;
  readonly isReadOnly: boolean;
}

const READS: ReadonlySet<ObjectCall> = new Set(['head', 'get', 'list', 'listParts', 'listUploads']);
/** Folders that are open as stores at once. */
const STORES_MAX = 256;

interface ServedStore {
  readonly opening: Promise<ObjectStore>;
  /** Running calls. */
  calls: number;
}

export function createPeerObjects({ budget, folder, isReadOnly }: PeerObjectsOptions): PeerObjects {
  /** By folder; the most recently used is last. */
  const stores = new Map<string, ServedStore>();

  const servedAt = (at: string, isMade: boolean): ServedStore => {
    const known = stores.get(at);
    if (known) {
      stores.delete(at);
      stores.set(at, known);
      return known;
    }
    const root = folder.folders.below(at);
    if (stores.size >= STORES_MAX) closeIdle(stores);
    const served: ServedStore = { opening: openFileStore({ root, create: isMade }), calls: 0 };
    stores.set(at, served);
    // A missing folder may be created later.
    served.opening.catch(() => {
      if (stores.get(at) === served) stores.delete(at);
    });
    return served;
  };

  const withStore = async (at: string, isMade: boolean, work: (store: ObjectStore) => Promise<void>) => {
    const served = servedAt(at, isMade);
    served.calls += 1;
    try {
      await work(await served.opening);
    } finally {
      served.calls -= 1;
    }
  };

  return {
    async answer(call, name) {
      if (!Object.hasOwn(OBJECT_CALLS, name))
        throw new PeerRefusal(404, 'unsupported', `This peer has no call "${name}" for objects.`);
      const objectCall = name as ObjectCall;
      if (isReadOnly && !READS.has(objectCall)) throw readOnlyRefusal();
      const at = parsePeerPath(call.query.get('at') ?? '', { allowRoot: true });
      using body = await receiveBody(call, {
        budget,
        maxBytes: PEER_LIMITS.bodyBytesMax + PEER_LIMITS.jsonBytesMax,
      });
      const { bytes, input } = parseInput(call, objectCall, body);
      await withStore(at, !READS.has(objectCall), async (store) => {
        for (const key of keysOf(input)) {
          parsePeerPath(at === '' ? key : `${at}/${key}`);
        }
        await carryOut({ call, store, bytes }, objectCall, input);
      });
    },
    async close() {
      await Promise.allSettled([...stores.values()].map(async ({ opening }) => (await opening).close()));
    },
  };
}

/** Makes room by closing the least recently used store. @throws DrayError `slowDown` if all are in use. */
function closeIdle(stores: Map<string, ServedStore>): void {
  for (const [at, { calls, opening }] of stores) {
    if (calls > 0) continue;
    stores.delete(at);
    // It only cleans up.
    opening.then((store) => store.close()).catch(() => {});
    return;
  }
  throw new DrayError(
    'slowDown',
    'Too many folders of this peer are used as repositories at once. Try again later.',
    {
      retry: 'backoff',
    },
  );
}

function parseInput(
  { request }: PeerCall,
  name: ObjectCall,
  { bytes }: Body,
): { readonly input: unknown; readonly bytes: Buffer } {
  const headBytes = Number(request.headers[PEER_HEADER.headBytes] ?? bytes.length);
  if (!Number.isSafeInteger(headBytes) || headBytes < 0 || headBytes > bytes.length)
    throw new PeerRefusal(
      400,
      'usage',
      `The header ${PEER_HEADER.headBytes} does not say where the bytes begin.`,
    );
  const maxBytes = name === 'complete' ? PEER_LIMITS.completionBytesMax : PEER_LIMITS.jsonBytesMax;
  const parsed = v.safeParse(OBJECT_CALLS[name], parseJson(bytes.subarray(0, headBytes), maxBytes));
  if (parsed.success) return { input: parsed.output, bytes: bytes.subarray(headBytes) };
  throw new PeerRefusal(400, 'usage', `The call is malformed: ${parsed.issues[0].message}.`);
}

function keysOf(input: unknown): readonly string[] {
  const { from, key, keys = [], to } = input as { key?: string; keys?: string[]; from?: string; to?: string };
  return [key, from, to, ...keys].filter((each) => each !== undefined);
}

interface Carrying {
  readonly call: PeerCall;
  readonly store: ObjectStore;
  readonly bytes: Buffer;
}

type Input = { [K in ObjectCall]: ObjectCallInput<K> };

async function carryOut({ bytes, call, store }: Carrying, name: ObjectCall, input: unknown): Promise<void> {
  const { response, signal } = call;
  const multipart = store.multipart as MultipartStore;
  const given = <K extends ObjectCall>(_name: K) => input as Input[K];
  const answer = (value: unknown) => answerJsonText(response, 200, objectJson(value));
  switch (name) {
    case 'head':
      return answer({ info: (await store.head(given(name).key, { signal })) ?? null });
    case 'get':
      return answerObject(call, store, given(name));
    case 'put': {
      const { key, ...put } = given(name);
      return answer(await store.put(key, bytes, defined({ ...put, signal })));
    }
    case 'list':
      return answer(await store.list(defined(given(name)) as ListRequest, { signal }));
    case 'delete': {
      const { ifMatch, keys } = given(name);
      await store.delete(keys, defined({ ifMatch, signal }));
      return answer({});
    }
    case 'copy': {
      const { from, to, ...copy } = given(name);
      return answer(await store.copy(from, to, defined({ ...copy, signal })));
    }
    case 'create': {
      const { key, ...create } = given(name);
      return answer({ uploadId: await multipart.create(key, defined({ ...create, signal })) });
    }
    case 'uploadPart': {
      const { key, number, uploadId, ...put } = given(name);
      return answer(
        await multipart.uploadPart({ key, uploadId }, number, bytes, defined({ ...put, signal })),
      );
    }
    case 'uploadPartCopy': {
      const { from, ifMatch, key, number, range, uploadId } = given(name);
      const source = defined({ key: from, range, ifMatch });
      return answer(await multipart.uploadPartCopy({ key, uploadId }, number, source, { signal }));
    }
    case 'listParts':
      return answer({ parts: await multipart.listParts(given(name), { signal }) });
    case 'complete': {
      const { key, parts, uploadId, ...put } = given(name);
      const infos = parts.map((part) => defined(part));
      return answer(await multipart.complete({ key, uploadId }, infos, defined({ ...put, signal })));
    }
    case 'abort':
      await multipart.abort(given(name), { signal });
      return answer({});
    case 'listUploads':
      return answer(await multipart.listUploads(defined(given(name)), { signal }));
  }
}

/** Drops undefined properties: the store's types distinguish absent from undefined. */
function defined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as never;
}

async function answerObject(
  call: PeerCall,
  store: ObjectStore,
  { key, ...get }: ObjectCallInput<'get'>,
): Promise<void> {
  const { response, signal } = call;
  const read = await store.get(key, defined({ ...get, signal }));
  if (!read) throw new DrayError('notFound', `There is no object ${key}.`, { data: { key, isAbsent: true } });
  const head = Buffer.from(objectJson({ info: read.info, sizeBytes: read.sizeBytes }));
  response.writeHead(200, {
    [PEER_HEADER.protocol]: PEER_PROTOCOL,
    [PEER_HEADER.headBytes]: head.length,
    'content-type': 'application/octet-stream',
    'content-length': head.length + read.sizeBytes,
    'cache-control': 'no-store',
  });
  try {
    response.write(head);
    for await (const piece of read.body) if (!response.write(piece)) await drained(call);
    response.end();
  } finally {
    read.body.destroy();
  }
}
