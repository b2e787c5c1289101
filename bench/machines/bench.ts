/** The servers, the data and the tools that all scenarios share, in one temporary folder. */
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startToxiproxy } from '../../e2e/servers/toxiproxy.ts';
import type { ServerOptions } from '../../e2e/servers/versitygw.ts';
import { clearFolders } from '../data/clear-folders.ts';
import { type DatasetShape, writeDataset } from '../data/dataset.ts';
import { type Fingerprint, fingerprintOf } from '../data/fingerprint.ts';
import type { Contender, ContenderName, Courier, Place } from '../entrants/contender.ts';
import { datasetHolding, uploadedHolding } from '../scenarios/holding.ts';
import { createHoldings, type Held, type Holdings } from '../scenarios/holdings.ts';
import type { Room } from '../scenarios/room.ts';
import {
  type BenchServer,
  type ServerName,
  type ServerWatch,
  startBenchServer,
  watchServers,
} from './bench-servers.ts';
import { createMeter, type Meter, runUnmeasured } from './measure.ts';

export interface Dataset {
  readonly folder: string;
  /** Computed at the first call, because reading a million files takes long. */
  fingerprint(): Fingerprint;
}

export interface Bench extends AsyncDisposable {
  readonly meter: Meter;
  readonly server: BenchServer;
  /** Watches all servers. */
  readonly watch: ServerWatch;
  readonly signal: AbortSignal;
  /** The requested contenders: each one, or why it is missing. */
  readonly contenders: ReadonlyMap<ContenderName, Contender | { readonly missing: string }>;
  /** An unused path. Files there and beside it are removed after the heat. */
  newPath(name: string): string;
  /**
   * An unused place. Its objects are removed after the heat.
   *
   * @param latencyMs The added latency of a round trip; 0: a direct connection. toxiproxy delays only
   * answers, so opening a connection takes no longer.
   */
  newPlace(latencyMs?: number): Promise<Place>;
  /** The place through another latency; 0: directly. */
  reach(place: Place, latencyMs: number): Promise<Place>;
  /** The parent of a temporary folder with this room: in memory where there is room and memory is wanted. */
  chooseFolder(room: Room): Promise<string>;
  /** Two further servers with this room for both together. Each call returns new places on them. */
  newPlacePair(room: Room): Promise<{ readonly source: Place; readonly destination: Place }>;
  /** The dataset as plain objects, uploaded at the first call by a tool that is not Dray. */
  stored(shape: DatasetShape): Promise<Place>;
  /** @throws Error when that tool is not there. */
  courier(): Promise<Courier>;
  /** Written at the first call. `owner` gets a dataset that no other entrant sees. */
  dataset(shape: DatasetShape, owner?: string): Promise<Dataset>;
  /** Data that several scenarios name, made at the first call. Its folders and places survive the heat. */
  hold: Holdings['hold'];
  /** The names of all holdings. */
  held(): readonly string[];
  /** Runs when the heat ends, to stop what a scenario started. */
  atHeatEnd(cleanUp: () => Promise<void>): void;
  /**
   * Ends the previous heat and removes what it left.
   *
   * @param keep The names of holdings to keep; all others are removed.
   */
  beginHeat(keep: ReadonlySet<string>): Promise<void>;
}

export interface BenchOptions {
  /** The parent folder of the data. */
  readonly parent: string;
  /** The parent folder of the server's data. */
  readonly storeParent: string;
  /** The parent of temporary folders. */
  chooseFolder(room: Room): Promise<string>;
  readonly server: ServerName;
  readonly contenders: Bench['contenders'];
  readonly courier: Bench['courier'];
  readonly signal: AbortSignal;
}

export async function openBench(options: BenchOptions): Promise<Bench> {
  const cleanUps: (() => Promise<void>)[] = [];
  const makeFolder = async (parent: string): Promise<string> => {
    const path = await realpath(await mkdtemp(join(parent, 'dray-bench-')));
    cleanUps.push(() => rm(path, { recursive: true, force: true }));
    return path;
  };
  const close = async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  };
  try {
    const folder = await makeFolder(options.parent);
    const servers: BenchServer[] = [];
    const start = async (parent: string, serverOptions: ServerOptions = {}) => {
      const dataFolder = join(await makeFolder(parent), 'store');
      const started = await startBenchServer(options.server, { ...serverOptions, dataFolder });
      cleanUps.push(() => started.stop());
      servers.push(started);
      return started;
    };
    const server = await start(options.storeParent);
    const meter = await createMeter(folder);
    const reach = createReach(cleanUps);
    const pairFor = memoize(async (room: Room) => {
      const secretAccessKey = randomUUID();
      const parent = await options.chooseFolder(room);
      const startOne = () => start(parent, { secretAccessKey });
      return { source: await startOne(), destination: await startOne() };
    });
    const span = createHeatSpan();
    cleanUps.push(() => span.end());
    const { hold, keepOnly, names } = createHoldings(span.disown);
    const newPath = (name: string) => span.own(join(folder, `${name}-${randomUUID().slice(0, 8)}`));
    const newPlaceOn = (one: BenchServer): Place => {
      const place = createPlace(one, folder);
      span.own(place.storeFolder);
      span.own(place.cacheFolder);
      return place;
    };
    const dataset: Bench['dataset'] = (shape, owner) =>
      hold(datasetHolding(shape, owner), async () => makeDataset(newPath(`data-${owner ?? 'all'}`), shape));
    return {
      meter,
      server,
      watch: watchServers(servers),
      signal: options.signal,
      contenders: options.contenders,
      chooseFolder: options.chooseFolder,
      newPath,
      newPlace: (latencyMs = 0) => reach(newPlaceOn(server), latencyMs),
      reach,
      newPlacePair: async (room) => {
        const { destination, source } = await pairFor(room);
        return { source: newPlaceOn(source), destination: newPlaceOn(destination) };
      },
      stored: (shape) =>
        hold(uploadedHolding(shape), async () => {
          const { folder: source } = await dataset(shape);
          const place = newPlaceOn(server);
          await runUnmeasured((await options.courier()).upload(source, place), options.signal);
          return { thing: place, folders: [place.storeFolder, place.cacheFolder] };
        }),
      courier: options.courier,
      dataset,
      hold,
      held: names,
      atHeatEnd: span.atEnd,
      beginHeat: async (keep) => {
        await span.end();
        await keepOnly(keep);
      },
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Reaches places through latencies: one network for each server and latency. */
function createReach(cleanUps: (() => Promise<void>)[]): Bench['reach'] {
  const openNetwork = memoize(async (way: { readonly upstream: string; readonly latencyMs: number }) => {
    const network = await startToxiproxy(way);
    cleanUps.push(() => network.stop());
    return network.endpoint;
  });
  return async (place, latencyMs) => {
    const upstream = place.serverEndpoint;
    const endpoint = latencyMs === 0 ? upstream : await openNetwork({ upstream, latencyMs });
    return { ...place, endpoint, environment: { ...place.environment, AWS_ENDPOINT_URL: endpoint } };
  };
}

/** Lives as long as a heat. */
function createHeatSpan() {
  const folders = new Set<string>();
  const cleanUps: (() => Promise<void>)[] = [];
  return {
    own: (path: string): string => {
      folders.add(path);
      return path;
    },
    disown: (paths: readonly string[]) => {
      for (const path of paths) folders.delete(path);
    },
    atEnd: (cleanUp: () => Promise<void>) => {
      cleanUps.push(cleanUp);
    },
    end: async () => {
      for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
      await clearFolders(...folders);
      folders.clear();
    },
  };
}

async function makeDataset(path: string, shape: DatasetShape): Promise<Held<Dataset>> {
  await mkdir(path);
  writeDataset(path, shape);
  let found: Fingerprint | undefined;
  const fingerprint = () => {
    found ??= fingerprintOf(path);
    return found;
  };
  return { thing: { folder: path, fingerprint }, folders: [path] };
}

function createPlace(server: BenchServer, folder: string): Place {
  // Hides the developer's own settings.
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

/** Caches one answer for equal arguments. A failure is not cached. */
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
