/** What all scenarios share: the servers, the data and the tools, in one temporary folder. */
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startToxiproxy } from '../e2e/servers/toxiproxy.ts';
import { roomyFolder, type ServerOptions } from '../e2e/servers/versitygw.ts';
import {
  type BenchServer,
  type ServerName,
  type ServerWatch,
  startBenchServer,
  watchServers,
} from './bench-servers.ts';
import type { Contender, ContenderName, Courier, Place } from './contender.ts';
import { type DatasetShape, writeDataset } from './dataset.ts';
import { type Fingerprint, fingerprintOf } from './fingerprint.ts';
import { createMeter, type Meter, runUnmeasured } from './measure.ts';

/** What a server may hold of an object at once: what is there, and parts beside the object that they become. */
const COPIES_MAX = 5;

export interface Dataset {
  readonly folder: string;
  /** Taken at the first call: reading a million files is not for those that need none. */
  fingerprint(): Fingerprint;
}

export interface Bench extends AsyncDisposable {
  readonly meter: Meter;
  readonly server: BenchServer;
  /** Of all servers. */
  readonly watch: ServerWatch;
  readonly signal: AbortSignal;
  /** Those that were asked for: a contender, or why there is none. */
  readonly contenders: ReadonlyMap<ContenderName, Contender | { readonly missing: string }>;
  /** A path that nothing is at. */
  newPath(name: string): string;
  /**
   * @param latencyMs By which a round trip takes longer; 0: nothing lies between. toxiproxy delays answers alone: opening a
   *   connection takes no longer.
   */
  newPlace(latencyMs?: number): Promise<Place>;
  /** A place as it is reached through another latency; 0: directly. */
  reach(place: Place, latencyMs: number): Promise<Place>;
  /** Two servers more, with room for an object of that size on each, and new places there at each call. */
  newPlacePair(objectBytes: number): Promise<{ readonly source: Place; readonly destination: Place }>;
  /** The dataset as plain objects, uploaded at the first call by a tool that is not Dray. */
  stored(shape: DatasetShape): Promise<Place>;
  /** @throws Error when that tool is not there. */
  courier(): Promise<Courier>;
  /** Written at the first call; `owner` gets one that no other entrant sees. */
  dataset(shape: DatasetShape, owner?: string): Promise<Dataset>;
  /** What a scenario started and keeps ends with the bench. */
  atEnd(cleanUp: () => Promise<void>): void;
}

export interface BenchOptions {
  /** Where the data lie. */
  readonly parent: string;
  readonly store: 'memory' | 'disk';
  readonly server: ServerName;
  readonly contenders: Bench['contenders'];
  readonly courier: Bench['courier'];
  readonly signal: AbortSignal;
}

export async function openBench(options: BenchOptions): Promise<Bench> {
  const folder = await realpath(await mkdtemp(join(options.parent, 'dray-bench-')));
  const cleanUps: (() => Promise<void>)[] = [() => rm(folder, { recursive: true, force: true })];
  const close = async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  };
  try {
    const servers: BenchServer[] = [];
    const start = async (serverOptions: ServerOptions) => {
      const started = await startBenchServer(options.server, serverOptions);
      cleanUps.push(() => started.stop());
      servers.push(started);
      return started;
    };
    const server = await start(options.store === 'disk' ? { dataFolder: join(folder, 'store') } : {});
    const meter = await createMeter(folder);
    const openNetwork = memoize(async (way: { readonly upstream: string; readonly latencyMs: number }) => {
      const network = await startToxiproxy(way);
      cleanUps.push(() => network.stop());
      return network.endpoint;
    });
    const reach = async (place: Place, latencyMs: number): Promise<Place> => {
      const upstream = place.serverEndpoint;
      const endpoint = latencyMs === 0 ? upstream : await openNetwork({ upstream, latencyMs });
      return { ...place, endpoint, environment: { ...place.environment, AWS_ENDPOINT_URL: endpoint } };
    };
    const dataset = createDatasets(folder);
    const stored = memoize(async (shape: DatasetShape) => {
      const { folder: source } = await dataset(shape);
      const place = createPlace(server, folder);
      await runUnmeasured((await options.courier()).upload(source, place), options.signal);
      return place;
    });
    const pairFor = memoize(async ({ objectBytes }: { readonly objectBytes: number }) => {
      const secretAccessKey = randomUUID();
      const startOne = async () => start({ secretAccessKey, dataFolder: await makeStoreFolder(objectBytes) });
      return { source: await startOne(), destination: await startOne() };
    });
    const makeStoreFolder = async (objectBytes: number) => {
      const parent = options.store === 'disk' ? folder : await roomyFolder(objectBytes * COPIES_MAX);
      if (parent === tmpdir()) return join(folder, `store-${randomUUID().slice(0, 8)}`);
      const path = await mkdtemp(join(parent, 'dray-bench-store-'));
      cleanUps.push(() => rm(path, { recursive: true, force: true }));
      return path;
    };
    return {
      meter,
      server,
      watch: watchServers(servers),
      signal: options.signal,
      contenders: options.contenders,
      newPath: (name) => join(folder, `${name}-${randomUUID().slice(0, 8)}`),
      newPlace: (latencyMs = 0) => reach(createPlace(server, folder), latencyMs),
      reach,
      newPlacePair: async (objectBytes) => {
        const pair = await pairFor({ objectBytes });
        return {
          source: createPlace(pair.source, folder),
          destination: createPlace(pair.destination, folder),
        };
      },
      stored,
      courier: options.courier,
      dataset,
      atEnd: (cleanUp) => {
        cleanUps.push(cleanUp);
      },
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
    const key = JSON.stringify([shape, owner]);
    const present = written.get(key);
    if (present) return present;
    const path = join(folder, `data-${written.size}-${owner}`);
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

function createPlace(server: BenchServer, folder: string): Place {
  // The developer's own settings must not meddle.
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(AWS|RCLONE|RESTIC|S3|DRAY)_/.test(name),
  );
  const prefix = `run-${randomUUID().slice(0, 8)}`;
  const { bucket, dataFolder, endpoint, environment, region } = server;
  return {
    bucket,
    prefix,
    endpoint,
    serverEndpoint: endpoint,
    region,
    environment: { ...Object.fromEntries(inherited), ...environment, AWS_ENDPOINT_URL: endpoint },
    cacheFolder: join(folder, `cache-${prefix}`),
    storeFolder: join(dataFolder, bucket, prefix),
    storesPlainFiles: server.name === 'versitygw',
  };
}

/** One answer for arguments that are written alike; a failure is asked for again. */
function memoize<Asked, Answer>(find: (asked: Asked) => Promise<Answer>): (asked: Asked) => Promise<Answer> {
  const found = new Map<string, Promise<Answer>>();
  return (asked) => {
    const key = JSON.stringify(asked);
    const present = found.get(key);
    if (present) return present;
    const finding = find(asked);
    found.set(key, finding);
    finding.catch(() => found.delete(key));
    return finding;
  };
}
