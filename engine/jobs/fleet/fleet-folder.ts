/**
 * A fleet's documents: everything that its steps share. They lie at the destination below `.dray-fleet/ID/`,
 * a name that no copy, sync or check takes for data.
 */
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { DrayError } from '../../api/error.ts';
import { type FleetRequest, type FleetWork, WORKER_NAME } from '../../api/jobs/fleet.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import { FLEET_FOLDER_NAME } from '../../model/unfinished-name.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { parseRemoteUrl } from '../../remotes/remote-url.ts';
import { type OpenedRemote, openRemoteAt } from '../session/opened-remote.ts';

export interface FleetFolder {
  readonly id: string;
  readonly store: ObjectStore;
  /** The destination: the same store, with its meter and limit. */
  readonly remote: OpenedRemote;
  /** @throws `damaged` when the document is not one of this schema */
  read<T>(name: string, schema: v.GenericSchema<unknown, T>): Promise<T | undefined>;
  readText(name: string): Promise<string | undefined>;
  has(name: string): Promise<boolean>;
  /** False when there is one already. */
  writeNew(name: string, value: unknown): Promise<boolean>;
  write(name: string, value: unknown): Promise<void>;
  writeText(name: string, text: string): Promise<void>;
  remove(names: readonly string[]): Promise<void>;
  /** Removes every document whose name begins with `prefix`. */
  removeBelow(prefix: string): Promise<void>;
  /** The names that begin with `prefix`, in order. @param namesMax Default: all. */
  names(prefix: string, namesMax?: number): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** A list of failures is the largest document: 10,000 lines. */
const DOCUMENT_BYTES_MAX = 64 * 1024 * 1024;
const REMOVED_AT_ONCE = 1_000;
const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/** The caller closes the folder. @throws `usage` for an id that cannot be a name */
export async function openFleetFolder(
  context: JobContext,
  { destination, id }: Pick<FleetWork, 'destination' | 'id'>,
): Promise<FleetFolder> {
  if (!ID.test(id))
    throw new DrayError(
      'usage',
      `"${id}" is not a valid name for a job. Use up to 64 letters, digits, dashes and underscores.`,
    );
  const url = parseRemoteUrl(destination, context.directory, { keepsEmptyParts: true });
  if (url.kind !== 's3')
    throw new DrayError('usage', `${destination} is not a bucket. A fleet's job needs one at both ends.`);
  return folderOf({ id, remote: await openRemoteAt(context, url), signal: context.signal });
}

function folderOf({
  id,
  remote,
  signal,
}: {
  readonly id: string;
  readonly remote: OpenedRemote;
  readonly signal: AbortSignal;
}): FleetFolder {
  const { store } = remote;
  const keyOf = (name: string) => `${FLEET_FOLDER_NAME}/${id}/${name}`;
  const readText = async (name: string) => {
    const found = await store.read(keyOf(name), { maxBytes: DOCUMENT_BYTES_MAX, signal });
    return found && Buffer.from(found.bytes).toString('utf8');
  };
  const put = (name: string, text: string) => store.put(keyOf(name), Buffer.from(text), { signal });
  const remove = async (names: readonly string[]) => {
    if (names.length > 0) await store.delete(names.map(keyOf), { signal });
  };
  const namesBelow = async (prefix: string, namesMax = Number.POSITIVE_INFINITY) => {
    const names: string[] = [];
    let continuation: string | undefined;
    do {
      const page = await store.list(
        { prefix: keyOf(prefix), ...(continuation === undefined ? {} : { continuation }) },
        { signal },
      );
      names.push(...page.objects.map(({ key }) => key.slice(keyOf('').length)));
      ({ continuation } = page);
    } while (continuation !== undefined && names.length < namesMax);
    return names.slice(0, namesMax);
  };
  return {
    id,
    store,
    remote,
    async read(name, schema) {
      const text = await readText(name);
      return text === undefined ? undefined : parsed(keyOf(name), text, schema);
    },
    readText,
    has: async (name) => (await store.head(keyOf(name), { signal })) !== undefined,
    async writeNew(name, value) {
      const bytes = Buffer.from(textOf(value));
      return (await store.put(keyOf(name), bytes, { condition: { absent: true }, signal })).written;
    },
    async write(name, value) {
      await put(name, textOf(value));
    },
    async writeText(name, text) {
      await put(name, text);
    },
    remove,
    async removeBelow(prefix) {
      const names = await namesBelow(prefix);
      for (let at = 0; at < names.length; at += REMOVED_AT_ONCE)
        await remove(names.slice(at, at + REMOVED_AT_ONCE));
    },
    names: namesBelow,
    close: () => store.close(),
  };
}

function textOf(value: unknown): string {
  return `${JSON.stringify(value, null, 1)}\n`;
}

function parsed<T>(key: string, text: string, schema: v.GenericSchema<unknown, T>): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw damaged(key, 'it is not JSON', cause);
  }
  const result = v.safeParse(schema, value, { abortEarly: true });
  if (result.success) return result.output;
  throw damaged(key, `"${v.getDotPath(result.issues[0]) ?? '?'}" is not valid`);
}

function damaged(key: string, why: string, cause?: unknown): DrayError {
  return new DrayError('damaged', `${key} is damaged: ${why}.`, { data: { key }, cause });
}

const rules = v.array(v.object({ action: v.picklist(['include', 'exclude']), pattern: v.string() }));
const amount = v.pipe(v.number(), v.minValue(0));
const filter = v.object({
  rules: v.optional(rules),
  minSizeBytes: v.optional(amount),
  maxSizeBytes: v.optional(amount),
  newerThanMs: v.optional(v.number()),
  olderThanMs: v.optional(v.number()),
  serverTime: v.optional(v.boolean()),
});
/** Only buckets. Otherwise a stored request could make a worker read a path of its own disk. */
const place = v.object({ place: v.pipe(v.string(), v.startsWith('s3://')) });

/** The stored request: its places are URLs that end in a slash, and it has no flags of a connection. */
const request: v.GenericSchema<unknown, FleetRequest> = v.object({
  kind: v.picklist(['copy', 'sync', 'check', 'verify', 'push']),
  source: place,
  destination: place,
  compare: v.optional(v.picklist(['sizeAndTime', 'checksum', 'sizeOnly'])),
  filter: v.optional(filter),
  update: v.optional(v.boolean()),
  noConfirm: v.optional(v.boolean()),
  immutable: v.optional(v.boolean()),
  metadata: v.optional(v.record(v.string(), v.string())),
  storageClass: v.optional(v.string()),
  contentType: v.optional(v.string()),
  partSizeBytes: v.optional(amount),
  delta: v.optional(v.boolean()),
  maxDelete: v.optional(v.union([v.object({ files: amount }), v.object({ percent: amount })])),
  deletableRepositories: v.optional(v.array(v.string())),
  allowRepositories: v.optional(v.union([v.boolean(), v.array(v.string())])),
  download: v.optional(v.boolean()),
  oneWay: v.optional(v.boolean()),
  ref: v.optional(v.string()),
  branch: v.optional(v.string()),
  message: v.optional(v.string()),
  author: v.optional(v.string()),
  into: v.optional(v.string()),
  workers: v.optional(v.array(v.pipe(v.string(), v.regex(WORKER_NAME)))),
  byWorker: v.optional(v.boolean()),
  readDataPercent: v.optional(amount),
  rangesWanted: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(10_000))),
  partFilesMax: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  partBytesMax: v.optional(v.pipe(v.number(), v.minValue(1))),
  largeBytes: v.optional(v.pipe(v.number(), v.minValue(1))),
}) as v.GenericSchema<unknown, FleetRequest>;

const job = v.object({ fleet: v.literal(1), dray: v.string(), id: v.string(), request });
const JOB_NAME = 'job.json';

export type FleetJob = v.InferOutput<typeof job>;

/** The stored job with its digest; undefined when there is none. */
export async function findFleetJob(
  folder: FleetFolder,
): Promise<{ readonly job: FleetJob; readonly digest: string } | undefined> {
  const text = await folder.readText(JOB_NAME);
  return text === undefined ? undefined : { job: parsed(JOB_NAME, text, job), digest: sha256(text) };
}

/** Returns its digest; undefined when there is one already. */
export async function writeFleetJob(folder: FleetFolder, value: FleetJob): Promise<string | undefined> {
  return (await folder.writeNew(JOB_NAME, value)) ? sha256(textOf(value)) : undefined;
}

/**
 * @throws `notFound` when this destination has no such job, which also happens to a worker with wrong
 * settings; `damaged` when its digest differs from the one of the begun job. Otherwise a user who can write
 * to the destination could make workers copy data that only the workers can read.
 */
async function readJob(folder: FleetFolder, { digest }: FleetWork): Promise<FleetJob> {
  const found = await findFleetJob(folder);
  if (found?.digest === digest) return found.job;
  const { address } = folder.store;
  const data = { id: folder.id };
  if (found) {
    const message = `The job ${folder.id} at ${address} was changed after it began. Start another one.`;
    throw new DrayError('damaged', message, { data });
  }
  const message = `${address} has no documents of the fleet job ${folder.id}. Check the endpoint and the credentials of this worker.`;
  throw new DrayError('notFound', message, { data });
}

/** Opens the folder for one step. */
export async function withFleet<T>(
  context: JobContext,
  work: FleetWork,
  step: (folder: FleetFolder, job: FleetJob) => Promise<T>,
): Promise<T> {
  const folder = await openFleetFolder(context, work);
  try {
    return await step(folder, await readJob(folder, work));
  } finally {
    await folder.close();
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
