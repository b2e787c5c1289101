/**
 * Damage as an actor: one stored object at a time is lost, flipped, cut, or exchanged with another of its
 * kind, and put back later. Flipped documents are flipped in their text, so most of them still decode.
 */
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { ObjectStore, RemoteKey } from '../../engine/remotes/object-store.ts';
import { readLastRecord } from '../../engine/repository/collection/ref-record.ts';
import { RETENTION_KEY, refKey } from '../../engine/repository/keys.ts';
import type { Draw } from '../seeded-draw.ts';

export interface Damage {
  readonly what: string;
  readonly keys: readonly RemoteKey[];
  /** What the store had before and has now, by key. Undefined: nothing. */
  readonly before: ReadonlyMap<RemoteKey, Uint8Array>;
  readonly after: ReadonlyMap<RemoteKey, Uint8Array | undefined>;
}

const BYTES_MAX = 2 ** 20;
const DOCUMENTS = /^(?:commits|manifests|relocations|collection)\/|^retention\.json$/;

async function bytesAt(store: ObjectStore, key: RemoteKey): Promise<Uint8Array | undefined> {
  const read = await store.read(key, { maxBytes: BYTES_MAX });
  return read && Uint8Array.from(read.bytes);
}

async function allKeys(store: ObjectStore): Promise<readonly RemoteKey[]> {
  return (await store.list({ prefix: '' })).objects.map(({ key }) => key);
}

/** Undefined if the object cannot be damaged in this way. */
export async function damageOne(store: ObjectStore, draw: Draw): Promise<Damage | undefined> {
  const keys = await allKeys(store);
  // Each kind is as likely as another, however many objects it has.
  const kind = draw.of([...new Set(keys.map(kindOf))]);
  const key = draw.of(keys.filter((each) => kindOf(each) === kind));
  const others = keys.filter((each) => each !== key && kindOf(each) === kind);
  const own = (await bytesAt(store, key))!;
  const way = draw.of(await waysOf(store, key));
  if (way === 'swap') {
    if (others.length === 0) return undefined;
    const other = draw.of(others);
    const bytes = (await bytesAt(store, other))!;
    return apply(store, `swap ${key} ${other}`, [
      [key, own, bytes],
      [other, bytes, own],
    ]);
  }
  const changed = way === 'lose' ? undefined : way === 'cut' ? cut(own, draw) : flip(key, own, draw);
  const shown = changed && kind === 'refs' ? ` ${Buffer.from(changed).toString('utf8')}` : '';
  return apply(store, `${way} ${key}${shown}`, [[key, own, changed]]);
}

/**
 * A ref does not say its name, so two of them are not exchanged. That one is lost is known from what the last
 * round has seen: before that, only a workspace could tell.
 */
async function waysOf(store: ObjectStore, key: RemoteKey): Promise<readonly string[]> {
  if (kindOf(key) !== 'refs') return ['lose', 'lose', 'flip', 'flip', 'cut', 'swap'];
  const { refs } = await readLastRecord(store);
  const isKnown = refs.some(({ name }) => refKey(name) === key);
  return isKnown ? ['lose', 'lose', 'flip', 'cut'] : ['flip', 'cut'];
}

function kindOf(key: RemoteKey): string {
  return key.split('/')[0]!;
}

function cut(bytes: Uint8Array, draw: Draw): Uint8Array {
  return bytes.slice(0, draw.below(bytes.length));
}

function flip(key: RemoteKey, bytes: Uint8Array, draw: Draw): Uint8Array {
  const isText = DOCUMENTS.test(key) && draw.chance(80);
  const text = isText ? Uint8Array.from(zstdDecompressSync(bytes)) : Uint8Array.from(bytes);
  const at = draw.below(text.length);
  // Half of the time a digit becomes another one, which keeps numbers and hashes what they are.
  const digits = [...text.keys()].filter((index) => text[index]! >= 0x30 && text[index]! <= 0x37);
  if (digits.length > 0 && draw.chance(50)) text[draw.of(digits)]! ^= 1 << draw.below(3);
  else text[at]! ^= 1 << draw.below(8);
  return isText ? Uint8Array.from(zstdCompressSync(text)) : text;
}

async function apply(
  store: ObjectStore,
  what: string,
  changes: readonly (readonly [RemoteKey, Uint8Array, Uint8Array | undefined])[],
): Promise<Damage> {
  for (const [key, , bytes] of changes) await (bytes ? store.put(key, bytes) : store.delete([key]));
  return {
    what,
    keys: changes.map(([key]) => key),
    before: new Map(changes.map(([key, bytes]) => [key, bytes])),
    after: new Map(changes.map(([key, , bytes]) => [key, bytes])),
  };
}

/** Puts back what nobody has changed since. */
export async function putBack(store: ObjectStore, { after, before }: Damage): Promise<void> {
  for (const [key, bytes] of before) {
    const now = await bytesAt(store, key);
    const wanted = after.get(key);
    const isSame = now && wanted ? Buffer.from(now).equals(wanted) : now === wanted;
    // Somebody who found no ref has tried to make one: it counts as absent.
    const isStillLost = !wanted && now && fieldsOf(now)?.state === 'pending' && !fieldsOf(now)?.again;
    if (isSame || isStillLost) await store.put(key, bytes);
    else if (now && wanted && kindOf(key) === 'refs') await putBackCommit(store, key, { now, wanted, bytes });
    else if (now && wanted && key === RETENTION_KEY) await putBackList(store, { now, wanted, bytes });
  }
}

interface ChangedBytes {
  readonly now: Uint8Array;
  readonly wanted: Uint8Array;
  readonly bytes: Uint8Array;
}

/** A round raises the epoch of a ref, and leaves its commit: also one that was altered. */
async function putBackCommit(
  store: ObjectStore,
  key: RemoteKey,
  { bytes, now, wanted }: ChangedBytes,
): Promise<void> {
  const [current, altered, original] = [now, wanted, bytes].map(fieldsOf);
  if (!current || !original || current.commit !== altered?.commit) return;
  await store.put(key, Buffer.from(`${JSON.stringify({ ...current, commit: original.commit })}\n`));
}

/** Somebody has added to a list of which a commit was altered. */
async function putBackList(store: ObjectStore, { bytes, now, wanted }: ChangedBytes): Promise<void> {
  const [current, altered, original] = [now, wanted, bytes].map((each) => fieldsOf(unpacked(each)));
  if (!current?.forgotten || !altered?.forgotten || !original?.forgotten) return;
  const forgotten = [...original.forgotten, ...current.forgotten.slice(altered.forgotten.length)];
  await store.put(RETENTION_KEY, zstdCompressSync(Buffer.from(JSON.stringify({ ...current, forgotten }))));
}

function unpacked(bytes: Uint8Array): Uint8Array {
  try {
    return zstdDecompressSync(bytes);
  } catch {
    return bytes;
  }
}

interface Fields {
  readonly again?: unknown;
  readonly commit?: unknown;
  readonly state?: unknown;
  readonly forgotten?: readonly unknown[];
}

function fieldsOf(bytes: Uint8Array): Fields | undefined {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8')) as Fields;
  } catch {
    return undefined;
  }
}
