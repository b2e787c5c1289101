/** Stores one part of a dataset: the objects or files between two keys, and their entries. */
import { DrayError, toErrorRecord } from '../../../api/error.ts';
import { type FleetCounts, type FleetRequest, NO_FLEET_COUNTS } from '../../../api/jobs/fleet.ts';
import type { JobContext } from '../../../api/jobs/jobs.ts';
import { systemClock } from '../../../base/clock.ts';
import { loadCrc64 } from '../../../checksums/crc64-nvme.ts';
import { comparePaths, type Entry } from '../../../model/entry.ts';
import { checkEntryPath } from '../../../model/safe-path.ts';
import { createTreeFilter, withoutBounds } from '../../../model/tree-filter.ts';
import type { TreeItem } from '../../../model/tree-item.ts';
import { findUnseen, notStored, type WrittenObject } from '../../../query/existence/find-unseen.ts';
import type { Meter } from '../../../remotes/wrappers/with-meter.ts';
import { segmentKey } from '../../../repository/keys.ts';
import { readEntries } from '../../../repository/manifest/read-entries.ts';
import type { EncodedSegment } from '../../../repository/manifest/segment.ts';
import { writeSegment } from '../../../repository/manifest/stored-segment.ts';
import { createProgress, type Progress } from '../../session/progress.ts';
import { addTotals, createTraffic } from '../../session/traffic.ts';
import { openTreePair } from '../../trees/open-pair.ts';
import type { FailureList } from '../failures.ts';
import type { FleetFolder } from '../fleet-folder.ts';
import type { FleetPart } from '../fleet-part.ts';
import { boundsOf } from '../plan/plan-ranges.ts';
import { createClashingNames } from './clashing-names.ts';
import { ContentStore } from './content-store.ts';
import { createFolderSource, offeredFolder } from './folder-source.ts';
import { writePartEntries } from './part-entries.ts';
import { createBucketSource, type PartSource } from './part-source.ts';
import { type PushTarget, prefixOfRange, readTarget } from './push-target.ts';
import { waitUntilOldMs } from './young-object.ts';

const OWNER_EXECUTABLE = 0o100;

export interface PushPartOptions {
  readonly request: FleetRequest;
  readonly part: FleetPart;
  readonly failures: FailureList;
}

export async function pushPart(
  folder: FleetFolder,
  { failures, part, request }: PushPartOptions,
): Promise<FleetCounts> {
  const { context } = failures;
  await loadCrc64();
  const target = await readTarget(context, folder, request);
  const { close, meters, source } = await openSource(context, request, part);
  try {
    const progress = createProgress(
      { context, clock: systemClock },
      {
        phase: 'upload',
        totals: () => ({ filesTotal: part.files, bytesTotal: part.bytes }),
        traffic: createTraffic([...meters, folder.remote.meter], [folder.remote.limit]),
      },
    );
    const run = new PartPush(folder, { failures, part, request, target, source, progress });
    const counts = await run.run();
    progress.end();
    const { dollars, total: requests } = addTotals([...meters, folder.remote.meter]);
    return { ...counts, requests, dollars };
  } finally {
    await close();
  }
}

interface OpenedSource {
  readonly source: PartSource;
  readonly meters: readonly Meter[];
  close(): Promise<void>;
}

async function openSource(
  context: JobContext,
  request: FleetRequest,
  part: Pick<FleetPart, 'after' | 'range' | 'upTo'>,
): Promise<OpenedSource> {
  const { emit, signal } = context;
  const range = boundsOf(part.after, part.upTo);
  const options = { filter: createTreeFilter(withoutBounds(request.filter ?? {})), signal };
  if (request.workers) {
    const root = offeredFolder(context, request, part.range);
    const onSkipped = (path: string, message: string) =>
      emit({ type: 'warning', warning: 'skippedSpecialFile', message, path });
    return {
      source: createFolderSource({ ...options, root, range, onSkipped }),
      meters: [],
      close: async () => {},
    };
  }
  const pair = await openTreePair(context, request, { range });
  if (pair.source.kind === 'local') throw new Error('unreachable');
  return {
    source: createBucketSource(pair.source, options),
    meters: pair.meters,
    close: () => pair.close(),
  };
}

interface PartPushOptions extends PushPartOptions {
  readonly target: PushTarget;
  readonly source: PartSource;
  readonly progress: Progress;
}

class PartPush {
  readonly #folder: FleetFolder;
  readonly #options: PartPushOptions;
  readonly #content: ContentStore;
  readonly #names = createClashingNames();
  /** In order; empty where an object failed. */
  readonly #entries: (Entry | undefined)[] = [];
  /** The folder of the dataset below which the part's paths lie. */
  readonly #prefix: string;
  #counts = { files: 0, bytes: 0, copiedFiles: 0, copiedBytes: 0, unchangedFiles: 0, failed: 0 };

  constructor(folder: FleetFolder, options: PartPushOptions) {
    this.#folder = folder;
    this.#options = options;
    this.#prefix = prefixOfRange(options.target, options.request, options.part.range);
    this.#content = new ContentStore({
      source: options.source,
      repository: folder.remote,
      layout: options.target.layout,
      view: options.target.view,
      signal: options.failures.context.signal,
    });
  }

  async run(): Promise<FleetCounts> {
    const { failures, part } = this.#options;
    const before = baseEntries(this.#folder, this.#options, this.#prefix);
    const items = this.#options.source.items((path, error) => this.#fail({ path }, error));
    try {
      for await (const page of items) for (const item of page) await this.#take(item, before);
    } finally {
      await before.close();
    }
    await this.#content.finish();
    await this.#writeEntries(part);
    const { readBytes: receivedBytes, sentBytes, sentObjects: objects } = this.#content;
    const { failedBy } = failures.counts;
    return { ...NO_FLEET_COUNTS, ...this.#counts, objects, sentBytes, receivedBytes, failedBy };
  }

  async #take(listed: TreeItem, before: BaseCursor): Promise<void> {
    const item = this.#look(listed);
    if (!item) return;
    const { modifiedMs, sizeBytes, special } = item;
    const path = `${this.#prefix}${item.path}`;
    const unfit = this.#whyUnfit(path, special?.kind);
    if (!special || unfit) {
      this.#counts.files += 1;
      this.#counts.bytes += sizeBytes;
    }
    if (unfit) {
      this.#fail(item, unfit);
      return;
    }
    if (special) {
      const { kind } = special;
      this.#entries.push(kind === 'link' ? { kind, path, target: special.target } : { kind, path });
      return;
    }
    const found = await before.at(path);
    const known = found?.kind === 'file' ? found : undefined;
    const mtimeNs = item.mtimeNs ?? BigInt(Math.round(modifiedMs)) * 1_000_000n;
    const executable =
      item.mode === undefined ? (known?.executable ?? false) : (item.mode & OWNER_EXECUTABLE) !== 0;
    const index = this.#entries.push(undefined) - 1;
    const isSame = known?.sizeBytes === sizeBytes && known.mtimeNs === mtimeNs;
    if (isSame && this.#options.request.compare !== 'checksum') {
      this.#entries[index] = { ...known, executable };
      this.#counts.unchangedFiles += 1;
      this.#options.progress.keep(1, sizeBytes);
      return;
    }
    await this.#untilOld(modifiedMs);
    await this.#content.add({
      item,
      before: known,
      onStored: ({ blob, location }) => {
        this.#entries[index] = { kind: 'file', path, sizeBytes, mtimeNs, executable, blob, location };
        this.#counts.copiedFiles += 1;
        this.#counts.copiedBytes += sizeBytes;
        this.#options.progress.add(1, sizeBytes);
      },
      onFailed: (error) => {
        if (!isOfOneObject(error)) return false;
        this.#fail(item, error);
        return true;
      },
    });
  }

  /** Undefined if the item is gone or has failed. */
  #look(listed: TreeItem): TreeItem | undefined {
    try {
      return this.#options.source.look(listed);
    } catch (error) {
      if (!isOfOneObject(error)) throw error;
      this.#fail(listed, error);
      return undefined;
    }
  }

  #whyUnfit(path: string, kind: 'file' | 'link' | 'folder' = 'file'): DrayError | undefined {
    const reason = checkEntryPath(path, { kind, platform: 'linux' });
    if (reason !== undefined)
      return new DrayError('unsafePath', `${path} cannot be a ${kind} of a dataset: ${reason}.`, {
        data: { path },
      });
    const above = this.#names.add(path);
    if (above === undefined) return undefined;
    const message = `${path} needs a folder where the object ${above.path} is. Rename one, or leave one out by a filter.`;
    return new DrayError('unsafePath', message, { data: { path } });
  }

  async #untilOld(modifiedMs: number): Promise<void> {
    const waitMs = waitUntilOldMs(modifiedMs, systemClock.nowMs());
    if (waitMs > 0) await systemClock.sleep(waitMs, this.#options.failures.context.signal);
  }

  #fail({ path }: Pick<TreeItem, 'path'>, error: DrayError): void {
    this.#counts.failed += 1;
    this.#options.failures.context.emit({ type: 'fileFailed', path, error: toErrorRecord(error) });
  }

  async #writeEntries(part: FleetPart): Promise<void> {
    const { limit, store } = this.#folder.remote;
    const { signal } = this.#options.failures.context;
    const written: WrittenObject[] = [];
    await writePartEntries(this.#folder, part, {
      avoid: this.#options.target.view,
      entries: this.#entries.filter((entry) => entry !== undefined),
      open: this.#names.open(),
      // The folders of workers share their paths, so the cuts are known once their entries are merged.
      ...(!this.#options.request.workers && {
        onSegment: async (segment: EncodedSegment) => {
          await writeSegment(store, segment, { signal });
          written.push({ key: segmentKey(segment.hash), sizeBytes: segment.bytes.length });
        },
      }),
    });
    for (const lost of await findUnseen(store, written, { limit, signal })) throw notStored(store, lost);
  }
}

/** Errors that concern one object alone. Any other error ends the step, which is repeated. */
function isOfOneObject(error: unknown): error is DrayError {
  if (!(error instanceof DrayError)) return false;
  return ['accessDenied', 'damaged', 'io', 'notFound'].includes(error.code);
}

interface BaseCursor {
  /** Paths ascend. */
  at(path: string): Promise<Entry | undefined>;
  close(): Promise<void>;
}

/** The base commit's entries of this part. */
function baseEntries(
  folder: FleetFolder,
  { failures, part, target }: PartPushOptions,
  prefix: string,
): BaseCursor {
  const { signal } = failures.context;
  const { base } = target;
  const from = `${prefix}${part.after ?? ''}`;
  const batches = base && readEntries(folder.store, base.commit, { prefix, from, signal });
  let batch: readonly Entry[] = [];
  let at = 0;
  let isDone = batches === undefined;
  return {
    async at(path) {
      for (;;) {
        for (; at < batch.length && comparePaths(batch[at]!.path, path) < 0; at += 1);
        const entry = batch[at];
        if (entry) return entry.path === path ? entry : undefined;
        if (isDone) return undefined;
        const next = await batches!.next();
        isDone = next.done === true;
        batch = next.done ? [] : next.value;
        at = 0;
      }
    },
    close: async () => void (await batches?.return()),
  };
}
