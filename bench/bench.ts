/** What all scenarios share: the servers, the data and the tools, in one temporary folder. */
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type BadNetwork, startToxiproxy } from '../e2e/servers/toxiproxy.ts';
import { type S3Server, startVersitygw } from '../e2e/servers/versitygw.ts';
import type { Contender, ContenderName, Place } from './contenders.ts';
import { type DatasetShape, writeDataset } from './dataset.ts';
import { type Fingerprint, fingerprintOf } from './fingerprint.ts';
import { createMeter, type Meter } from './measure.ts';

/** toxiproxy delays answers only: a round trip takes so much longer, and opening a connection takes nothing. */
export const LATENCY_MS = 30;

export interface Dataset {
  readonly folder: string;
  /** Taken at the first call: reading a million files is not for those that need none. */
  fingerprint(): Fingerprint;
}

export interface Bench extends AsyncDisposable {
  readonly meter: Meter;
  readonly server: S3Server;
  readonly signal: AbortSignal;
  /** Those that were asked for: a contender, or why there is none. */
  readonly contenders: ReadonlyMap<ContenderName, Contender | { readonly missing: string }>;
  /** A path that nothing is at. */
  newPath(name: string): string;
  newPlace(link: 'direct' | 'slow'): Promise<Place>;
  /** Where the objects of a place are files. */
  folderOf(place: Place): string;
  /** Written at the first call; `owner` gets one that no other entrant sees. */
  dataset(shape: DatasetShape, owner?: string): Promise<Dataset>;
}

export interface BenchOptions {
  /** Where the data lie. */
  readonly parent: string;
  readonly store: 'memory' | 'disk';
  readonly contenders: Bench['contenders'];
  readonly signal: AbortSignal;
}

export async function openBench(options: BenchOptions): Promise<Bench> {
  const folder = await realpath(await mkdtemp(join(options.parent, 'dray-bench-')));
  const cleanUps: (() => Promise<void>)[] = [() => rm(folder, { recursive: true, force: true })];
  const close = async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  };
  try {
    const server = await startVersitygw(
      options.store === 'disk' ? { dataFolder: join(folder, 'store') } : {},
    );
    cleanUps.push(() => server.stop());
    const meter = await createMeter(folder);
    let network: Promise<BadNetwork> | undefined;
    const openNetwork = () => {
      network ??= startToxiproxy({ upstream: server.endpoint, latencyMs: LATENCY_MS }).then((started) => {
        cleanUps.push(() => started.stop());
        return started;
      });
      return network;
    };
    return {
      meter,
      server,
      signal: options.signal,
      contenders: options.contenders,
      newPath: (name) => join(folder, `${name}-${randomUUID().slice(0, 8)}`),
      newPlace: async (link) =>
        createPlace(server, link === 'direct' ? server.endpoint : (await openNetwork()).endpoint),
      folderOf: (place) => join(server.dataFolder, place.bucket, place.prefix),
      dataset: createDatasets(folder),
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function createDatasets(folder: string): Bench['dataset'] {
  const written = new Map<string, Dataset>();
  return async (shape, owner = 'all') => {
    const key = `data-${shape.files}-${shape.bytesMax}-${shape.sizes}-${owner}`;
    const present = written.get(key);
    if (present) return present;
    const path = join(folder, key);
    await mkdir(path);
    writeDataset(path, shape);
    let fingerprint: Fingerprint | undefined;
    const dataset: Dataset = {
      folder: path,
      fingerprint: () => {
        fingerprint ??= fingerprintOf(path);
        return fingerprint;
      },
    };
    written.set(key, dataset);
    return dataset;
  };
}

function createPlace(server: S3Server, endpoint: string): Place {
  // The developer's own settings must not meddle.
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(AWS|RCLONE|RESTIC|S3|DRAY)_/.test(name),
  );
  return {
    bucket: server.bucket,
    prefix: `run-${randomUUID().slice(0, 8)}`,
    endpoint,
    region: server.region,
    environment: { ...Object.fromEntries(inherited), ...server.environment, AWS_ENDPOINT_URL: endpoint },
  };
}
