/** The checks of `remote test` on a store. Every key lies below `prefix`, which the caller removes. */
import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { DrayError } from '../../api/error.ts';
import type { CheckEvent } from '../../api/events.ts';
import type { Clock } from '../../base/clock.ts';
import { comparePaths } from '../../model/entry.ts';
import type { ObjectStore, PutOptions } from '../../remotes/object-store.ts';
import { probeConditions, probeRaces } from './condition-probe.ts';

export interface CheckContext {
  readonly store: ObjectStore;
  /** Unique to this run, ending in `/`. */
  readonly prefix: string;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Gets the measured latency. */
  readonly onLatency: (latencyMs: number) => void;
}

export type CheckOutcome = Pick<CheckEvent, 'result' | 'detail'>;

export interface RemoteCheck {
  readonly name: string;
  /** If it fails, all other checks would fail too. */
  readonly isNeeded?: boolean;
  /** Dray works without this operation if the store does not support it. */
  readonly hasAlternative?: boolean;
  run(context: CheckContext): Promise<CheckOutcome>;
}

const MIB = 1024 * 1024;
/** S3's minimum size of a part, except the last. */
const PART_BYTES = 5 * MIB;
const RACING_WRITERS = 16;
const RACE_ROUNDS = 3;
const LATENCY_SAMPLES = 9;
/** The Date header counts whole seconds, and some servers compute it once a second. */
const CLOCKS_AGREE_MS = 2000;
/** S3 refuses signatures that are more than 15 minutes off. */
const SKEW_WARNING_MS = 5 * 60_000;
const SKEW_REFUSED_MS = 15 * 60_000;

export const REMOTE_CHECKS: readonly RemoteCheck[] = [
  { name: 'credentials', isNeeded: true, run: checkCredentials },
  { name: 'write', isNeeded: true, run: checkWrite },
  { name: 'read', isNeeded: true, run: checkRead },
  { name: 'range reads', run: checkRanges },
  { name: 'listing', run: checkListing },
  { name: 'multipart', hasAlternative: true, run: checkMultipart },
  { name: 'part copy', hasAlternative: true, run: checkPartCopy },
  { name: 'checksums', hasAlternative: true, run: checkChecksums },
  { name: 'conditional writes', run: checkConditions },
  { name: 'clock', run: checkClock },
  { name: 'latency', run: checkLatency },
];

const CONTENT = Buffer.from('Dray tests this remote. This object may be removed.\n'.repeat(40));
const contentKey = ({ prefix }: CheckContext): string => `${prefix}content`;

async function checkCredentials({ store, prefix, signal }: CheckContext): Promise<CheckOutcome> {
  await store.list({ prefix, limit: 1 }, { signal });
  return ok('The remote answers and allows listing.');
}

async function checkWrite(context: CheckContext): Promise<CheckOutcome> {
  await context.store.put(contentKey(context), CONTENT, { signal: context.signal });
  return ok(`Wrote ${CONTENT.byteLength} bytes.`);
}

async function checkRead(context: CheckContext): Promise<CheckOutcome> {
  const { store, signal } = context;
  const key = contentKey(context);
  const info = await store.head(key, { signal });
  if (info?.sizeBytes !== CONTENT.byteLength)
    return failed('HEAD does not find the object that was just written.');
  const read = await store.read(key, { signal, maxBytes: CONTENT.byteLength });
  if (!read || !CONTENT.equals(read.bytes)) return failed('The bytes read are not those that were written.');
  const absent = await store.head(`${context.prefix}absent`, { signal });
  return absent
    ? failed('HEAD finds an object that was never written.')
    : ok('Reads return what was written.');
}

async function checkRanges(context: CheckContext): Promise<CheckOutcome> {
  for (const [start, end] of [
    [0, 1],
    [100, 1000],
    [CONTENT.byteLength - 7, CONTENT.byteLength],
  ] as const) {
    const range = { start, end };
    const read = await context.store.read(contentKey(context), {
      signal: context.signal,
      range,
      maxBytes: CONTENT.byteLength,
    });
    if (!read || !CONTENT.subarray(start, end).equals(read.bytes)) {
      return failed(`A read of bytes ${start} to ${end} returned ${read?.bytes.byteLength ?? 'none'}.`);
    }
  }
  return ok('Ranges at the start, in the middle and at the end are right.');
}

async function checkListing({ store, prefix, signal }: CheckContext): Promise<CheckOutcome> {
  const names = ['A', 'a b', 'a+b', 'a-b/c', 'a.txt', 'a/b', 'a0', 'z%41', '\u00e9', '\uff5e', '\u{1F600}'];
  const keys = names.map((name) => `${prefix}list/${name}`).sort(comparePaths);
  // Wait for all, even after a failure, so that the clean-up finds every object.
  for (const outcome of await Promise.allSettled(
    keys.map((key) => store.put(key, CONTENT.subarray(0, 1), { signal })),
  )) {
    if (outcome.status === 'rejected') throw outcome.reason;
  }
  const listed: string[] = [];
  for (let continuation: string | undefined; ; ) {
    const request = {
      prefix: `${prefix}list/`,
      limit: 4,
      ...(continuation === undefined ? {} : { continuation }),
    };
    const page = await store.list(request, { signal });
    listed.push(...page.objects.map((object) => object.key));
    continuation = page.continuation;
    if (continuation === undefined || listed.length > 2 * keys.length) break;
  }
  if (!sameList(listed, keys)) return failed('Pages do not list every key once, in the byte order of UTF-8.');
  const startAfter = keys[5]!;
  const rest = await store.list({ prefix: `${prefix}list/`, startAfter }, { signal });
  const restKeys = rest.objects.map((object) => object.key);
  if (!sameList(restKeys, keys.slice(6))) return failed('A listing does not start after the given key.');
  return ok('Lists in byte order, in pages, and from any key.');
}

async function checkMultipart(context: CheckContext): Promise<CheckOutcome> {
  const { store, prefix, signal } = context;
  const { multipart } = store;
  if (!multipart)
    return notSupported('The store has no multipart uploads; each large file is sent in one request.');
  const key = `${prefix}multipart`;
  const parts = [randomBytes(PART_BYTES), randomBytes(1000)];
  const upload = { key, uploadId: await multipart.create(key, { signal }) };
  try {
    const second = await multipart.uploadPart(upload, 2, parts[1]!, { signal });
    const first = await multipart.uploadPart(upload, 1, parts[0]!, { signal });
    const held = await multipart.listParts(upload, { signal });
    if (
      !sameList(
        held.map((part) => `${part.number} ${part.sizeBytes}`),
        [`1 ${PART_BYTES}`, '2 1000'],
      )
    ) {
      return failed('The store does not list the parts that were sent, so uploads cannot be resumed.');
    }
    await multipart.complete(upload, [first, second], { signal });
  } catch (error) {
    await multipart.abort(upload).catch(() => {});
    throw error;
  }
  const read = await store.read(key, { signal, maxBytes: 2 * PART_BYTES });
  if (!read || !Buffer.concat(parts).equals(read.bytes))
    return failed('The completed upload is not its parts in order.');
  return ok('Parts sent in any order are listed and joined.');
}

async function checkPartCopy({ store, prefix, signal }: CheckContext): Promise<CheckOutcome> {
  const { multipart } = store;
  if (!multipart) return notSupported('The store has no multipart uploads.');
  const source = `${prefix}part-source`;
  const bytes = randomBytes(3000);
  await store.put(source, bytes, { signal });
  const key = `${prefix}part-copy`;
  const upload = { key, uploadId: await multipart.create(key, { signal }) };
  try {
    const range = { start: 1000, end: 2500 };
    const part = await multipart.uploadPartCopy(upload, 1, { key: source, range }, { signal });
    await multipart.complete(upload, [part], { signal });
  } catch (error) {
    await multipart.abort(upload).catch(() => {});
    throw error;
  }
  const read = await store.read(key, { signal, maxBytes: bytes.byteLength });
  if (!read || !bytes.subarray(1000, 2500).equals(read.bytes))
    return failed('The copied part has other bytes than its source.');
  return ok('Copies ranges inside the store.');
}

async function checkChecksums({ store, prefix, signal }: CheckContext): Promise<CheckOutcome> {
  const sha256 = createHash('sha256').update(CONTENT).digest('hex');
  const wrongSha256 = createHash('sha256').update('something else').digest('hex');
  const sum = crc32(CONTENT);
  const kinds: readonly (readonly [string, PutOptions['checksum'] & {}, PutOptions['checksum'] & {}])[] = [
    ['SHA-256', { sha256 }, { sha256: wrongSha256 }],
    ['CRC-32', { crc32: sum }, { crc32: (sum ^ 1) >>> 0 }],
  ];
  const accepted: string[] = [];
  for (const [kind, right, wrong] of kinds) {
    await store.put(`${prefix}checksum`, CONTENT, { signal, checksum: right });
    if (
      !(await isRefused(() => store.put(`${prefix}checksum-wrong`, CONTENT, { signal, checksum: wrong })))
    ) {
      accepted.push(kind);
    }
  }
  if (accepted.length === 0) return ok('Wrong SHA-256 and CRC-32 checksums are refused.');
  const kept = `The remote accepts bytes that do not match their ${accepted.join(' and ')}`;
  return { result: 'warning', detail: `${kept}: only a verification finds damage from the upload.` };
}

async function isRefused(put: () => Promise<unknown>): Promise<boolean> {
  try {
    await put();
    return false;
  } catch (error) {
    if (error instanceof DrayError && error.code === 'checksumRefused') return true;
    throw error;
  }
}

async function checkConditions({ store, prefix, signal }: CheckContext): Promise<CheckOutcome> {
  const fault =
    (await probeConditions(store, `${prefix}condition`, signal)) ??
    (await probeRaces(
      store,
      { prefix: `${prefix}race-`, writers: RACING_WRITERS, rounds: RACE_ROUNDS },
      signal,
    ));
  if (fault !== undefined) return failed(`Unsafe for two writers: ${fault}.`);
  return ok(
    `One of ${RACING_WRITERS} racing writers wins, ${2 * RACE_ROUNDS} times out of ${2 * RACE_ROUNDS}.`,
  );
}

async function checkClock(context: CheckContext): Promise<CheckOutcome> {
  const beforeMs = context.clock.nowMs();
  const info = await context.store.head(contentKey(context), { signal: context.signal });
  const hereMs = (beforeMs + context.clock.nowMs()) / 2;
  if (info?.remoteTimeMs === undefined) return notSupported('The remote does not report its time.');
  const skewMs = Math.abs(info.remoteTimeMs - hereMs);
  if (skewMs < CLOCKS_AGREE_MS) return ok('The clocks agree to within 2 s.');
  const says = `The clocks differ by ${(skewMs / 1000).toFixed(1)} s.`;
  if (skewMs >= SKEW_REFUSED_MS)
    return failed(`${says} S3 refuses requests that are more than 15 minutes off.`);
  return skewMs >= SKEW_WARNING_MS ? { result: 'warning', detail: says } : ok(says);
}

async function checkLatency(context: CheckContext): Promise<CheckOutcome> {
  const samplesMs: number[] = [];
  for (let sample = 0; sample < LATENCY_SAMPLES; sample += 1) {
    const startMs = context.clock.monotonicMs();
    await context.store.head(contentKey(context), { signal: context.signal });
    samplesMs.push(context.clock.monotonicMs() - startMs);
  }
  const medianMs = samplesMs.sort((a, b) => a - b)[LATENCY_SAMPLES >> 1]!;
  context.onLatency(medianMs);
  return ok(`A HEAD takes ${medianMs.toFixed(1)} ms (median of ${LATENCY_SAMPLES}).`);
}

function sameList(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((value, at) => value === right[at]);
}

function ok(detail: string): CheckOutcome {
  return { result: 'ok', detail };
}

function failed(detail: string): CheckOutcome {
  return { result: 'failed', detail };
}

function notSupported(detail: string): CheckOutcome {
  return { result: 'notSupported', detail };
}
