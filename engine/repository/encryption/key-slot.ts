/**
 * A slot holds the master key of an encrypted repository, sealed by a password or by a recovery key:
 *
 *     {"format":1,"repository":"<uuid>","kind":"password","label":"...","created":"<time>",
 *      "argon2id":{"memoryKiB":65536,"passes":3,"lanes":4,"salt":"<hex>"},
 *      "check":"<hex>","nonce":"<hex>","sealed":"<hex>"}
 *
 * A slot's key is `keys/` and the SHA-256 of its bytes, so a damaged slot shows. Slots never change.
 *
 * `check` commits to the key that seals (AES-GCM alone does not), and tells a wrong password from a slot that
 * was changed.
 */
import { createCipheriv, createDecipheriv, hash as hashOf, hkdfSync, randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { LABEL_CHARS_MAX } from '../../api/jobs/repositories.ts';
import type { RemoteKey } from '../../remotes/object-store.ts';
import { checkSchema, damaged, FORMAT, parseDocument } from '../document.ts';
import { KEY_SLOTS_PREFIX } from '../keys.ts';
import { createRecoveryKey, parseRecoveryKey } from './recovery-key.ts';
import { MASTER_KEY_BYTES } from './seal-keys.ts';
import { type Argon2Settings, stretchPassword } from './stretch-password.ts';

export interface KeySlot {
  /** 64 hexadecimal digits. */
  readonly id: string;
  readonly repository: string;
  readonly kind: 'password' | 'recovery';
  readonly label: string;
  readonly created: string;
  readonly argon2id?: Argon2Settings & { readonly salt: string };
  readonly check: string;
  readonly nonce: string;
  readonly sealed: string;
}

/** The second recommendation of RFC 9106, section 4. */
const NEW_SETTINGS: Argon2Settings = { memoryKiB: 64 * 1024, passes: 3, lanes: 4 };
/**
 * Work of Argon2id: KiB of memory, times passes. What one slot may ask for; more would be an attack on
 * whoever opens it. Settings of later versions may be 16 times as strong.
 */
export const SLOT_WORK_MAX = 16 * workOf(NEW_SETTINGS);
/** What one password is tried on. So a slot like those that Dray makes is found among 199 others. */
export const SLOTS_WORK_MAX = 200 * workOf(NEW_SETTINGS);
const MEMORY_KIB_MAX = 1024 * 1024;
const LANES_MAX = 64;
/** Argon2 takes no less (RFC 9106, section 3.1). */
const MEMORY_KIB_OF_LANE = 8;
const SALT_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
export const SLOT_MAX_BYTES = 8 * 1024;

const hexSchema = (bytes: number) => v.pipe(v.string(), v.regex(new RegExp(`^[0-9a-f]{${2 * bytes}}$`)));
const count = (max = Number.MAX_SAFE_INTEGER) =>
  v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(max));
const slotSchema = v.object({
  repository: v.pipe(v.string(), v.uuid()),
  kind: v.picklist(['password', 'recovery']),
  label: v.pipe(v.string(), v.maxLength(LABEL_CHARS_MAX)),
  created: v.pipe(v.string(), v.isoTimestamp()),
  argon2id: v.optional(
    v.pipe(
      v.object({
        memoryKiB: count(),
        passes: count(),
        lanes: count(LANES_MAX),
        salt: hexSchema(SALT_BYTES),
      }),
      v.check(({ lanes, memoryKiB }) => memoryKiB >= lanes * MEMORY_KIB_OF_LANE, 'memoryKiB is too small'),
    ),
  ),
  check: hexSchema(32),
  nonce: hexSchema(NONCE_BYTES),
  sealed: hexSchema(MASTER_KEY_BYTES + TAG_BYTES),
});

/** What a new slot is about. */
export interface SlotFacts {
  readonly master: Uint8Array;
  readonly repository: string;
  readonly label: string;
  readonly nowMs: number;
}

export interface EncodedSlot {
  readonly key: RemoteKey;
  readonly bytes: Uint8Array;
}

export async function createPasswordSlot(facts: SlotFacts, password: string): Promise<EncodedSlot> {
  const argon2id = { ...NEW_SETTINGS, salt: randomBytes(SALT_BYTES).toString('hex') };
  return sealSlot(facts, 'password', await stretchPassword(password, argon2id), { argon2id });
}

export function createRecoverySlot(facts: SlotFacts): {
  readonly slot: EncodedSlot;
  readonly recoveryKey: string;
} {
  const recoveryKey = createRecoveryKey();
  return { slot: sealSlot(facts, 'recovery', parseRecoveryKey(recoveryKey)!, {}), recoveryKey };
}

/** @throws `damaged`, `formatTooNew` */
export function parseSlot(key: RemoteKey, bytes: Uint8Array): KeySlot {
  const id = key.slice(KEY_SLOTS_PREFIX.length);
  if (hashOf('sha256', bytes, 'hex') !== id) throw damaged(key, 'its content does not match its name');
  const slot = checkSchema(key, slotSchema, parseDocument(key, bytes));
  if ((slot.kind === 'password') !== (slot.argon2id !== undefined))
    throw damaged(key, 'it does not say how its key is made');
  const { argon2id, ...rest } = slot;
  return { id, ...rest, ...(argon2id && { argon2id }) };
}

const recordSchema = v.pick(slotSchema, ['repository', 'kind', 'label', 'created']);

/** What says that there is a slot, without its secrets. */
export function recordOfSlot(key: RemoteKey, slot: Uint8Array): Uint8Array {
  const { created, kind, label, repository } = parseSlot(key, slot);
  return Buffer.from(`${JSON.stringify({ format: FORMAT, repository, kind, label, created })}\n`, 'utf8');
}

/** @throws `damaged`, `formatTooNew` */
export function parseRecord(key: RemoteKey, bytes: Uint8Array): v.InferOutput<typeof recordSchema> {
  return checkSchema(key, recordSchema, parseDocument(key, bytes));
}

/** Infinite where the memory alone is too much. */
export function slotWork({ argon2id }: KeySlot): number {
  if (!argon2id) return 0;
  return argon2id.memoryKiB > MEMORY_KIB_MAX ? Number.POSITIVE_INFINITY : workOf(argon2id);
}

function workOf({ memoryKiB, passes }: Argon2Settings): number {
  return memoryKiB * passes;
}

/**
 * The master key; undefined if the password is not that of this slot.
 * @throws `damaged` if it is, but the slot was changed
 */
export async function openSlot(slot: KeySlot, password: string): Promise<Uint8Array | undefined> {
  const { argon2id } = slot;
  const secret = argon2id ? await stretchPassword(password, argon2id) : parseRecoveryKey(password);
  if (!secret) return undefined;
  const { check, wrapping } = slotKeys(secret, slot.repository);
  if (check !== slot.check) return undefined;
  const sealed = Buffer.from(slot.sealed, 'hex');
  const decipher = createDecipheriv('aes-256-gcm', wrapping, Buffer.from(slot.nonce, 'hex'), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAuthTag(sealed.subarray(MASTER_KEY_BYTES));
  decipher.setAAD(Buffer.from(factsOf(slot)));
  const master = decipher.update(sealed.subarray(0, MASTER_KEY_BYTES));
  try {
    decipher.final();
  } catch (cause) {
    throw damaged(`${KEY_SLOTS_PREFIX}${slot.id}`, 'the password is right, but the slot was changed', cause);
  }
  return master;
}

function sealSlot(
  { label, master, nowMs, repository }: SlotFacts,
  kind: KeySlot['kind'],
  secret: Uint8Array,
  { argon2id }: Pick<KeySlot, 'argon2id'>,
): EncodedSlot {
  const created = new Date(nowMs).toISOString();
  const facts = { repository, kind, label, created, ...(argon2id && { argon2id }) };
  const { check, wrapping } = slotKeys(secret, repository);
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', wrapping, nonce);
  cipher.setAAD(Buffer.from(factsOf(facts)));
  const sealed = Buffer.concat([cipher.update(master), cipher.final(), cipher.getAuthTag()]);
  const slot = {
    format: FORMAT,
    ...facts,
    check,
    nonce: nonce.toString('hex'),
    sealed: sealed.toString('hex'),
  };
  const bytes = Buffer.from(`${JSON.stringify(slot, undefined, 2)}\n`);
  return { key: `${KEY_SLOTS_PREFIX}${hashOf('sha256', bytes, 'hex')}`, bytes };
}

/** The associated data: everything that is not derived from the secret. */
function factsOf({
  argon2id,
  created,
  kind,
  label,
  repository,
}: Pick<KeySlot, 'argon2id' | 'created' | 'kind' | 'label' | 'repository'>): string {
  return JSON.stringify([repository, kind, label, created, argon2id?.salt ?? '']);
}

function slotKeys(secret: Uint8Array, repository: string) {
  const derive = (use: string) => Buffer.from(hkdfSync('sha256', secret, repository, `dray/slot/${use}`, 32));
  return { check: derive('check').toString('hex'), wrapping: derive('key') };
}
