/** Stores one part of a dataset: the objects between two keys, and the segments of their entries. */
import { DrayError, toErrorRecord } from '../../../api/error.ts';
import { type FleetCounts, type FleetRequest, NO_FLEET_COUNTS } from '../../../api/fleet.ts';
import { systemClock } from '../../../base/clock.ts';
import { loadCrc64 } from '../../../checksums/crc64-nvme.ts';
import { comparePaths, type Entry, type FileEntry } from '../../../model/entry.ts';
import { checkEntryPath } from '../../../model/safe-path.ts';
import { createTreeFilter, withoutBounds } from '../../../model/tree-filter.ts';
import type { TreeItem } from '../../../model/tree-item.ts';
import { findUnseen, notStored, type WrittenObject } from '../../../query/existence/find-unseen.ts';
import { listTreeItems } from '../../../query/trees/object-pages.ts';
import { segmentKey } from '../../../repository/keys.ts';
import { readEntries } from '../../../repository/manifest/read-entries.ts';
import { writeSegment } from '../../../repository/manifest/stored-segment.ts';
import { createProgress, type Progress } from '../../session/progress.ts';
import { addTotals, createTraffic } from '../../session/traffic.ts';
import { openTreePair } from '../../trees/open-pair.ts';
import type { RemoteSide } from '../../trees/sides.ts';
import { canTravel } from '../../trees/source-items.ts';
import type { FailureList } from '../failures.ts';
import type { FleetFolder } from '../fleet-folder.ts';
import type { FleetPart } from '../fleet-part.ts';
import { boundsOf } from '../plan/plan-ranges.ts';
import { createClashingNames } from './clashing-names.ts';
import { ContentStore } from './content-store.ts';
import { writePartEntries } from './part-entries.ts';
import { type PushTarget, readTarget } from './push-target.ts';
import { waitUntilOldMs } from './young-object.ts';

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
  const pair = await openTreePair(context, request, { range: boundsOf(part.after, part.upTo) });
  try {
    const { meters, source } = pair;
    if (source.kind === 'local') throw new Error('unreachable');
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
    await pair.close();
  }
}

interface PartPushOptions extends PushPartOptions {
  readonly target: PushTarget;
  readonly source: RemoteSide;
  readonly progress: Progress;
}

class PartPush {
  readonly #folder: FleetFolder;
  readonly #options: PartPushOptions;
  readonly #content: ContentStore;
  readonly #names = createClashingNames();
  /** In order; empty where an object failed. */
  readonly #entries: (FileEntry | undefined)[] = [];
  #counts = { files: 0, bytes: 0, copiedFiles: 0, copiedBytes: 0, unchangedFiles: 0, failed: 0 };

  constructor(folder: FleetFolder, options: PartPushOptions) {
    this.#folder = folder;
    this.#options = options;
    this.#content = new ContentStore({
      source: options.source,
      repository: folder.remote,
      layout: options.target.layout,
      signal: options.failures.context.signal,
    });
  }

  async run(): Promise<FleetCounts> {
    const { failures, part } = this.#options;
    const before = baseEntries(this.#folder, this.#options);
    try {
      for await (const item of this.#items()) await this.#take(item, before);
    } finally {
      await before.close();
    }
    await this.#content.finish();
    await this.#writeEntries(part);
    const { readBytes: receivedBytes, sentBytes, sentObjects: objects } = this.#content;
    const { failedBy } = failures.counts;
    return { ...NO_FLEET_COUNTS, ...this.#counts, objects, sentBytes, receivedBytes, failedBy };
  }

  async *#items(): AsyncGenerator<TreeItem> {
    const { failures, request, source } = this.#options;
    const { signal } = failures.context;
    const filter = createTreeFilter(withoutBounds(request.filter ?? {}));
    for await (const page of listTreeItems({ store: source.store, limit: source.limit, signal }))
      for (const item of page) if (canTravel(item) && filter.includes(item)) yield item;
  }

  async #take(item: TreeItem, before: BaseCursor): Promise<void> {
    const { request, target } = this.#options;
    const { modifiedMs, sizeBytes } = item;
    const path = `${target.prefix}${item.path}`;
    this.#counts.files += 1;
    this.#counts.bytes += sizeBytes;
    const unfit = this.#whyUnfit(path);
    if (unfit) {
      this.#fail(item, unfit);
      return;
    }
    const found = await before.at(path);
    const known = found?.kind === 'file' ? found : undefined;
    const mtimeNs = BigInt(Math.round(modifiedMs)) * 1_000_000n;
    const index = this.#entries.push(undefined) - 1;
    const isSame = known?.sizeBytes === sizeBytes && known.mtimeNs === mtimeNs;
    if (isSame && request.compare !== 'checksum') {
      this.#entries[index] = known;
      this.#counts.unchangedFiles += 1;
      this.#options.progress.keep(1, sizeBytes);
      return;
    }
    await this.#untilOld(modifiedMs);
    await this.#content.add({
      item,
      before: known,
      onStored: ({ blob, location }) => {
        const executable = known?.executable ?? false;
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

  #whyUnfit(path: string): DrayError | undefined {
    const reason = checkEntryPath(path, { kind: 'file', platform: 'linux' });
    if (reason !== undefined)
      return new DrayError('unsafePath', `${path} cannot be a file of a dataset: ${reason}.`, {
        data: { path },
      });
    const above = this.#names.add(path);
    if (above === undefined) return undefined;
    const message = `${path} needs a folder where the object ${above} is. Rename one, or leave one out by a filter.`;
    return new DrayError('unsafePath', message, { data: { path } });
  }

  async #untilOld(modifiedMs: number): Promise<void> {
    const waitMs = waitUntilOldMs(modifiedMs, systemClock.nowMs());
    if (waitMs > 0) await systemClock.sleep(waitMs, this.#options.failures.context.signal);
  }

  #fail({ path }: TreeItem, error: DrayError): void {
    this.#counts.failed += 1;
    this.#options.failures.context.emit({ type: 'fileFailed', path, error: toErrorRecord(error) });
  }

  async #writeEntries(part: FleetPart): Promise<void> {
    const { limit, store } = this.#folder.remote;
    const { signal } = this.#options.failures.context;
    const written: WrittenObject[] = [];
    await writePartEntries(this.#folder, part, {
      entries: this.#entries.filter((entry) => entry !== undefined),
      open: this.#names.open(),
      onSegment: async (segment) => {
        await writeSegment(store, segment, { signal });
        written.push({ key: segmentKey(segment.hash), sizeBytes: segment.bytes.length });
      },
    });
    for (const lost of await findUnseen(store, written, { limit, signal })) throw notStored(store, lost);
  }
}

/** What no other object of the part has to do with; anything else ends the step, which is repeated. */
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
function baseEntries(folder: FleetFolder, { failures, part, target }: PartPushOptions): BaseCursor {
  const { signal } = failures.context;
  const { base, prefix } = target;
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
