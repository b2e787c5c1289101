/**
 * `dray.json`: what makes a remote URL a repository.
 *
 *     {"format":1,"required":["collection"],"since":"<version>","id":"<uuid>","created":"<time>",
 *      "hash":"sha256","layout":{"packBelow":...,"packTarget":...,"chunkAbove":...,
 *                "chunkSize":{"min":...,"average":...,"max":...}},
 *      "compression":"auto","encryption":null}
 *
 * Written once, by a conditional PUT. `dray upgrade` adds features to `required` and changes `compression`,
 * by compare-and-swap. `hash` has one value in format 1; any other value needs a newer version. So does
 * another `encryption` than null or `{"version":1,"check":"<hex>"}`.
 */
import { randomUUID } from 'node:crypto';
import { crc32 } from 'node:zlib';
import * as v from 'valibot';
import { DrayError, quotedExcerpt } from '../api/error.ts';
import type { Clock } from '../base/clock.ts';
import { readVersion } from '../base/dray-version.ts';
import { isDamage } from '../base/read-checked.ts';
import type { Compression, Layout } from '../model/layout.ts';
import type { CallOptions, ObjectStore } from '../remotes/object-store.ts';
import {
  checkSchema,
  damaged,
  FEATURE_COLLECTION,
  FEATURE_ENCRYPTION,
  FEATURE_ZSTD,
  FORMAT,
  isJsonObject,
  type JsonObject,
  parseDocument,
  tooNew,
} from './document.ts';
import { DESCRIPTOR_KEY } from './keys.ts';
import { BLOB_MAX_BYTES, PACK_MAX_BYTES } from './packs/pack-format.ts';

export interface Descriptor {
  readonly format: number;
  /** UUID. Distinguishes repositories that used the same URL at different times. */
  readonly id: string;
  /** RFC 3339, UTC. */
  readonly created: string;
  readonly layout: Layout;
  /** What a version must know to use the repository. Those made before there were features have none. */
  readonly features: readonly string[];
  /** Present if the repository is encrypted. */
  readonly encryption?: Encryption;
}

interface Encryption {
  /** `SealKeys.check` of its master key. */
  readonly check: string;
}

/** The features of a new repository. */
function featuresOf({ compression }: Pick<Layout, 'compression'>): readonly string[] {
  return compression === undefined ? [FEATURE_COLLECTION] : [FEATURE_COLLECTION, FEATURE_ZSTD];
}

export function collectsGarbage({ features }: Descriptor): boolean {
  return features.includes(FEATURE_COLLECTION);
}

export const DESCRIPTOR_MAX_BYTES = 64 * 1024;
/** The last blob of a pack can exceed the target, and the index follows it. */
const PACK_TARGET_MAX_BYTES = PACK_MAX_BYTES / 4;
/** The names of smaller chunks would take more space than their content. */
const CHUNK_MIN_BYTES = 64;

const sizeSchema = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const layoutSchema = v.pipe(
  v.object({
    packBelow: sizeSchema,
    packTarget: v.pipe(sizeSchema, v.minValue(1), v.maxValue(PACK_TARGET_MAX_BYTES)),
    chunkAbove: sizeSchema,
    chunkSize: v.object({
      min: v.pipe(sizeSchema, v.minValue(CHUNK_MIN_BYTES)),
      average: sizeSchema,
      max: v.pipe(sizeSchema, v.maxValue(BLOB_MAX_BYTES)),
    }),
  }),
  v.check(
    ({ packBelow, packTarget, chunkSize: { min, average, max } }) =>
      packBelow <= packTarget && min <= average && average <= max,
    'needs packBelow <= packTarget and min <= average <= max',
  ),
);
const compressionSchema = v.optional(v.picklist(['auto', 'max'] satisfies Compression[]));
const descriptorSchema = v.object({
  format: v.number(),
  id: v.pipe(v.string(), v.uuid()),
  created: v.pipe(v.string(), v.isoTimestamp()),
  layout: layoutSchema,
  compression: compressionSchema,
  required: v.optional(v.array(v.string()), []),
});
const ENCRYPTION_VERSION = 1;
const encryptionSchema = v.object({
  version: v.literal(ENCRYPTION_VERSION),
  check: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
});

/**
 * One request. Undefined when the URL holds no repository.
 * @throws `damaged`, `formatTooNew`, and `unsupported` if it is encrypted and the store was opened without
 * its keys
 */
export async function readDescriptor(
  store: ObjectStore,
  options: CallOptions = {},
): Promise<Descriptor | undefined> {
  const descriptor = await readAnyDescriptor(store, options);
  if (!descriptor?.encryption || store.sealing) return descriptor;
  const message = `The repository at ${store.address} is encrypted, which this command does not support yet.`;
  throw new DrayError('unsupported', message, { data: { remote: store.address, reason: 'encrypted' } });
}

/** Also that of an encrypted repository whose keys are not known. */
export async function readAnyDescriptor(
  store: ObjectStore,
  options: CallOptions = {},
): Promise<Descriptor | undefined> {
  const read = await store.read(DESCRIPTOR_KEY, { ...options, maxBytes: DESCRIPTOR_MAX_BYTES });
  if (!read) return undefined;
  try {
    return parseDescriptor(read.bytes);
  } catch (error) {
    if (!isDamage(error)) throw error;
    throw new DrayError('damaged', error.message, {
      data: error.data,
      advice: 'Run "dray repair" in a workspace of this repository.',
      command: 'dray repair',
      cause: error,
    });
  }
}

/**
 * Makes the store a repository. One request, or two when a repository exists, whose descriptor is then
 * returned: of several concurrent callers, one creates it.
 * @throws `usage` for a contradictory layout; `damaged`, `formatTooNew`.
 */
export async function createDescriptor(
  store: ObjectStore,
  options: CallOptions & {
    readonly layout: Layout;
    readonly clock: Clock;
    /** Of an encrypted repository, with the id that its keys were made for. */
    readonly encrypted?: { readonly id: string; readonly encryption: Encryption };
  },
): Promise<{ readonly descriptor: Descriptor; readonly created: boolean }> {
  const { layout, clock, encrypted, ...call } = options;
  const { compression, ...sizes } = layout;
  const checked = v.safeParse(layoutSchema, sizes, { abortEarly: true });
  if (!checked.success) {
    const field = v.getDotPath(checked.issues[0]) ?? 'it';
    throw new DrayError('usage', `The layout is impossible: ${field}: ${checked.issues[0].message}.`);
  }
  const created = new Date(clock.nowMs()).toISOString();
  const descriptor: Descriptor = {
    format: FORMAT,
    id: encrypted?.id ?? randomUUID(),
    created,
    layout: withCompression(checked.output, compression),
    features: [...featuresOf(layout), ...(encrypted ? [FEATURE_ENCRYPTION] : [])],
    ...(encrypted && { encryption: encrypted.encryption }),
  };
  const bytes = Buffer.from(descriptorToText(descriptor), 'utf8');
  const outcome = await store.put(DESCRIPTOR_KEY, bytes, {
    ...call,
    condition: { absent: true },
    checksum: { crc32: crc32(bytes) },
    contentType: 'application/json',
  });
  if (outcome.written) return { descriptor, created: true };
  const winner = await readAnyDescriptor(store, call);
  // Ours when a retried PUT lost the answer to its first try.
  if (winner) return { descriptor: winner, created: winner.id === descriptor.id };
  const message = `${store.address} reports that ${DESCRIPTOR_KEY} exists, but does not return it.`;
  throw new DrayError('remoteFailed', message, { retry: 'retry', data: { key: DESCRIPTOR_KEY } });
}

export type CompressionSetting = Compression | 'off';

export interface DescriptorChange {
  /** Absent: as it is. */
  readonly compression?: CompressionSetting | undefined;
}

/**
 * Lets the repository collect garbage, and changes its compression, by compare-and-swap. Other fields stay.
 * Up to three requests. `zstd` stays required once it was: some content may be compressed.
 * @returns False if there was nothing to change. @throws `notFound`, `conflict` if somebody else changed it
 * now
 */
export async function upgradeDescriptor(
  store: ObjectStore,
  { compression }: DescriptorChange,
  options: CallOptions = {},
): Promise<boolean> {
  const read = await store.read(DESCRIPTOR_KEY, { ...options, maxBytes: DESCRIPTOR_MAX_BYTES });
  if (!read) throw new DrayError('notFound', `There is no ${DESCRIPTOR_KEY} at ${store.address}.`);
  const before = parseDescriptor(read.bytes);
  const wanted = compression === 'off' ? undefined : (compression ?? before.layout.compression);
  const features = featuresOf({ compression: compression === 'off' ? undefined : compression });
  const isDone = ({ features: known, layout }: Descriptor) =>
    features.every((feature) => known.includes(feature)) && layout.compression === wanted;
  if (isDone(before)) return false;
  const { compression: _, format, ...rest } = parseDocument(DESCRIPTOR_KEY, read.bytes);
  const required = [...new Set([...before.features, ...features])];
  const document = {
    ...{ format, ...rest, required, since: readVersion() },
    ...(wanted && { compression: wanted }),
  };
  const bytes = Buffer.from(`${JSON.stringify(document, undefined, 2)}\n`, 'utf8');
  const outcome = await store.put(DESCRIPTOR_KEY, bytes, {
    ...options,
    condition: { etag: read.etag },
    checksum: { crc32: crc32(bytes) },
    contentType: 'application/json',
  });
  if (outcome.written) return true;
  const after = await readAnyDescriptor(store, options);
  if (after && isDone(after)) return true;
  throw descriptorChanged(store);
}

/**
 * Writes a descriptor in the place of one that is lost.
 * @param options.etag Of what cannot be read. Undefined: nothing is there. @throws `conflict`
 */
export async function replaceDescriptor(
  store: ObjectStore,
  descriptor: Descriptor,
  { etag, ...options }: CallOptions & { readonly etag: string | undefined },
): Promise<void> {
  const bytes = Buffer.from(descriptorToText(descriptor), 'utf8');
  const outcome = await store.put(DESCRIPTOR_KEY, bytes, {
    ...options,
    condition: etag === undefined ? { absent: true } : { etag },
    checksum: { crc32: crc32(bytes) },
    contentType: 'application/json',
  });
  if (!outcome.written) throw descriptorChanged(store);
}

function descriptorChanged({ address }: Pick<ObjectStore, 'address'>): DrayError {
  return new DrayError('conflict', `${DESCRIPTOR_KEY} at ${address} changed at this moment.`, {
    retry: 'retry',
    advice: 'Run the command again.',
  });
}

function descriptorToText({ created, encryption, features, id, layout }: Descriptor): string {
  const required = features.length === 0 ? {} : { required: features, since: readVersion() };
  const { compression, ...sizes } = layout;
  const document = {
    ...{ format: FORMAT, ...required, id, created, hash: 'sha256', layout: sizes },
    ...(compression === undefined ? {} : { compression }),
    encryption: encryption ? { version: ENCRYPTION_VERSION, ...encryption } : null,
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

function parseDescriptor(bytes: Uint8Array): Descriptor {
  const document = parseDocument(DESCRIPTOR_KEY, bytes);
  checkFeature(document, 'hash', 'sha256');
  const encryption = parseEncryption(document);
  const { compression, layout, required, ...rest } = checkSchema(DESCRIPTOR_KEY, descriptorSchema, document);
  if ((encryption !== undefined) !== required.includes(FEATURE_ENCRYPTION))
    throw damaged(DESCRIPTOR_KEY, '"encryption" and "required" contradict each other');
  const descriptor = { ...rest, layout: withCompression(layout, compression), features: required };
  return encryption ? { ...descriptor, encryption } : descriptor;
}

function withCompression(layout: Layout, compression: Compression | undefined): Layout {
  return compression === undefined ? layout : { ...layout, compression };
}

function parseEncryption(document: JsonObject): Encryption | undefined {
  const { encryption } = document;
  if (!isJsonObject(encryption) || encryption.version !== ENCRYPTION_VERSION) {
    checkFeature(document, 'encryption', null);
    return undefined;
  }
  const { check } = checkSchema(DESCRIPTOR_KEY, encryptionSchema, encryption);
  return { check };
}

function checkFeature(document: JsonObject, field: string, known: unknown): void {
  const value = document[field];
  if (value === known) return;
  if (value === undefined) throw damaged(DESCRIPTOR_KEY, `"${field}" is missing`);
  throw tooNew(DESCRIPTOR_KEY, `asks for ${field} ${quotedExcerpt(value)}`, { field });
}
