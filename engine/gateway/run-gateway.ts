/** `dray gateway`: versions of repositories over S3, until it is stopped. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { DrayError, messageWithoutAdvice, toDrayError } from '../api/error.ts';
import type { JobContext } from '../api/jobs/jobs.ts';
import type { GatewayRequest, GatewaySummary } from '../api/jobs/peers.ts';
import { untilAborted } from '../base/abort.ts';
import { Budget } from '../base/budget.ts';
import { systemClock } from '../base/clock.ts';
import { writeJsonFile } from '../base/json-file.ts';
import { certificateFor } from '../jobs/one-place/serve.ts';
import { defaultRemote, findNamedRemote } from '../jobs/session/named-remote.ts';
import { openRepositoryAt, parseGivenUrl } from '../jobs/session/opened-remote.ts';
import { userCacheFolder, userConfigFolder } from '../jobs/session/user-remotes.ts';
import { type BlockMemory, createBlockMemory, withBlockCache } from '../jobs/versions/block-cache.ts';
import { openBlockFile } from '../jobs/versions/block-file.ts';
import { createDecodedContents } from '../jobs/versions/decoded-contents.ts';
import {
  GATEWAY_PORT,
  type GatewayKeys,
  gatewayKeyPath,
  isBucketName,
  readGatewayKeys,
} from '../jobs/versions/gateway-access.ts';
import { openObjectFiles } from '../jobs/versions/object-files.ts';
import { createVersions } from '../jobs/versions/open-versions.ts';
import type { Reading } from '../jobs/versions/read-entry.ts';
import { fingerprintOf } from '../peer/peer-certificate.ts';
import type { ObjectStore } from '../remotes/object-store.ts';
import { defaultCloneFolder, formatRemoteUrl, isLoopback, type RemoteUrl } from '../remotes/remote-url.ts';
import { readDescriptor } from '../repository/descriptor.ts';
import { Bucket } from './bucket.ts';
import { giveBackFreedMemory } from './freed-memory.ts';
import { startGateway } from './gateway-server.ts';

const CACHE_BYTES = 1024 * 1024 * 1024;
const MIB = 1024 * 1024;
/** Blocks of all repositories. */
const BLOCKS_BYTES = 16 * MIB;
/** A quarter of the machine's memory is thought to hold files that were read. */
const SYSTEM_SHARE = 4;
/** Large enough for one request a window, and smaller while many clients are served. */
const WINDOW_BYTES = MIB;
const WINDOWS_BYTES = 16 * MIB;
const WINDOWS_AHEAD = 8;
const READS_AT_ONCE = 8;
/** Of decompressed contents. The others go to a file, or are decompressed again. */
const DECODED_BYTES = 32 * MIB;

/**
 * Resolves when the signal fires.
 * @throws `usage`, `notFound`, `io` and the errors of the stores, before it starts
 */
export async function runGateway(context: JobContext, request: GatewayRequest): Promise<GatewaySummary> {
  const { explain = false, host = '127.0.0.1', isAnonymous = false, port = GATEWAY_PORT } = request;
  checkOpenness(request, host);
  const named = namesOf(context, request.repositories);
  const tls = await certificateFor(context, { tls: request.tls ?? 'off' });
  await giveBackFreedMemory();
  const upstream = new AsyncLocalStorage<{ count: number }>();
  let requests = 0;
  await using opened = new AsyncDisposableStack();
  const buckets = new Map<string, Bucket>();
  const cacheBytes = request.cacheBytes ?? CACHE_BYTES;
  const decoded = cacheBytes > 0 ? await openBlockFile(cacheFolder(context), cacheBytes) : undefined;
  opened.defer(() => decoded?.close());
  const reading: Reading = {
    windowBytes: WINDOW_BYTES,
    windowsBytes: WINDOWS_BYTES,
    readers: { count: 0 },
    ahead: new Budget(WINDOWS_AHEAD),
    reads: new Budget(READS_AT_ONCE),
    contents: createDecodedContents({ bytesMax: DECODED_BYTES, file: decoded }),
    doubtful: new Set(),
  };
  const counting: JobContext = {
    ...context,
    onCall: (name, key) => {
      const answer = upstream.getStore();
      if (answer) answer.count += 1;
      return context.onCall?.(name, key) ?? (() => {});
    },
  };
  const memory = createBlockMemory(BLOCKS_BYTES);
  for (const [name, url] of named) {
    const store = await openStore(counting, url, { cacheBytes, memory });
    opened.defer(() => store.close());
    buckets.set(name, new Bucket(name, createVersions(store, reading), () => systemClock.monotonicMs()));
  }
  // Not before the repositories are open: a new secret key is shown by the start that makes it.
  const keys = isAnonymous ? undefined : ownKeys(context);
  const gateway = await startGateway({
    host,
    port,
    buckets,
    clock: systemClock,
    ...(keys && { keys: keys.pair }),
    ...(tls && { tls }),
    ...(explain && { around: (work) => upstream.run({ count: 0 }, work) }),
    onAnswer: (answer) => {
      requests += 1;
      if (!explain) return;
      context.emit({ type: 'gatewayAnswer', ...answer, upstream: upstream.getStore()?.count ?? 0 });
    },
    onFailure: (error) => {
      const known = error instanceof DrayError ? messageWithoutAdvice(error) : undefined;
      const message = known ?? (error instanceof Error ? (error.stack ?? error.message) : String(error));
      context.emit({ type: 'warning', warning: 'requestFailed', message: `A request failed: ${message}` });
    },
  }).catch((cause: unknown) => {
    if (cause instanceof DrayError) throw cause;
    const message = `The gateway cannot listen on ${host}:${port}: ${toDrayError(cause).message}`;
    throw new DrayError('io', message, { cause });
  });
  opened.use(gateway);
  const url = endpointOf(host, gateway.address.port, tls !== undefined);
  context.emit({
    type: 'gateway',
    url,
    buckets: [...named].map(([name, at]) => ({ name, url: formatRemoteUrl(at) })),
    ...(tls && { fingerprint: fingerprintOf(tls.cert) }),
    ...(keys && {
      accessKeyId: keys.pair.accessKeyId,
      keptIn: keys.path,
      ...(keys.isNew && { secretAccessKey: keys.pair.secretAccessKey }),
    }),
  });
  await untilAborted(context.signal);
  return { url, requests };
}

function endpointOf(host: string, port: number, isTls: boolean): string {
  return `${isTls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Whoever can reach the port could read all versions, or what travels. @throws `usage` */
function checkOpenness({ isAnonymous, isInsecure, tls = 'off' }: GatewayRequest, host: string): void {
  if (isLoopback(host)) return;
  if (isAnonymous)
    throw new DrayError('usage', `Requests without signatures are for loopback only, and not for ${host}.`, {
      advice: 'Leave out --anonymous, or listen on 127.0.0.1.',
    });
  if (tls === 'off' && !isInsecure)
    throw new DrayError('usage', `Without TLS, anyone on the network path to ${host} can read all data.`, {
      advice: 'Add --tls auto or --tls CERT,KEY, or --insecure if the network is trusted.',
    });
}

async function openStore(
  context: JobContext,
  url: RemoteUrl,
  { cacheBytes, memory }: { readonly cacheBytes: number; readonly memory: BlockMemory },
): Promise<ObjectStore> {
  const { store } = await openRepositoryAt(context, url);
  try {
    const { signal } = context;
    if (!(await readDescriptor(store, { signal })))
      throw new DrayError('notFound', `There is no repository at ${store.address}.`, {
        data: { remote: store.address },
      });
    // What lies in a folder of this machine needs no second copy.
    if (url.kind === 'file' && !store.sealing)
      return withBlockCache(store, {
        file: openObjectFiles(url.path, totalmem() / SYSTEM_SHARE),
        memory,
      });
    const file = cacheBytes > 0 ? await openBlockFile(cacheFolder(context), cacheBytes) : undefined;
    return withBlockCache(store, file ? { file, memory } : { memory });
  } catch (error) {
    await store.close();
    throw error;
  }
}

function cacheFolder(context: JobContext): string {
  return join(userCacheFolder(context), 'gateway');
}

/** The repositories by their buckets' names. @throws `usage` */
function namesOf(context: JobContext, texts: readonly string[]): ReadonlyMap<string, RemoteUrl> {
  const named = new Map<string, RemoteUrl>();
  const add = (name: string, url: RemoteUrl) => {
    if (!isBucketName(name))
      throw new DrayError('usage', `${JSON.stringify(name)} cannot name a bucket.`, {
        advice: 'Write NAME=PLACE; a name has 3 to 63 lower-case letters, digits, dots and dashes.',
      });
    if (named.has(name))
      throw new DrayError('usage', `Two repositories would be the bucket ${name}.`, {
        advice: 'Write NAME=PLACE.',
      });
    named.set(name, url);
  };
  for (const text of texts) {
    const [, name, place = text] = /^([a-z0-9.-]+)=(.+)$/s.exec(text) ?? [];
    const url = findNamedRemote(context, place)?.url ?? parseGivenUrl(context, place, context.directory);
    add(name ?? defaultCloneFolder(url), url);
  }
  if (texts.length > 0) return named;
  const remote = defaultRemote(context);
  add(defaultCloneFolder(remote.url), remote.url);
  return named;
}

interface OwnKeys {
  readonly pair: GatewayKeys;
  readonly path: string;
  readonly isNew: boolean;
}

/** Made once, and the same from then on, so that clients can be configured. @throws `io` */
function ownKeys(context: JobContext): OwnKeys {
  const path = gatewayKeyPath(context);
  const known = readGatewayKeys(context);
  if (known) return { pair: known, path, isNew: false };
  const pair = {
    accessKeyId: `DRAY${randomLetters(16)}`,
    secretAccessKey: randomBytes(30).toString('base64url'),
  };
  mkdirSync(userConfigFolder(context), { recursive: true, mode: 0o700 });
  writeJsonFile(path, pair);
  return { pair, path, isNew: true };
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

function randomLetters(count: number): string {
  return [...randomBytes(count)].map((byte) => BASE32[byte & 31]).join('');
}
