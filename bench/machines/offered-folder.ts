/**
 * The "other machine" of the scenarios between machines: a folder, a tool's server over it, and a link to
 * that server.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { startToxiproxy } from '../../e2e/servers/toxiproxy.ts';
import type { Room } from '../scenarios/room.ts';
import type { Attempt } from '../scenarios/scenario.ts';
import type { Bench } from './bench.ts';
import type { Environment, FolderServer } from './peer-servers.ts';
import { BINARIES_FOLDER } from './peers.ts';

/** Dray's cache lies beside the offered folder and is as new as it. */
export interface Offered {
  readonly folder: string;
  readonly server: FolderServer;
  /** The port of the server, or of the link before it. */
  readonly port: number;
  /** An unused path for the tool's files, beside `folder` and not in it. */
  readonly notes: string;
  readonly environment: Environment;
  stop(): Promise<void>;
}

export interface OfferOptions {
  /** The added latency of each round trip. */
  readonly latencyMs: number;
  /** The most that the folder holds at once. */
  readonly room: Room;
  start(offer: Pick<Offered, 'folder' | 'notes' | 'environment'>): Promise<FolderServer>;
}

/**
 * Makes the folder in memory where there is room, as the stores of the other scenarios. Stops the server when
 * the heat ends at the latest.
 */
export async function offerFolder(bench: Bench, { latencyMs, room, start }: OfferOptions): Promise<Offered> {
  const place = await mkdtemp(join(await bench.chooseFolder(room), 'dray-bench-offered-'));
  const folder = join(place, 'folder');
  await mkdir(folder);
  const environment = {
    ...cleanEnvironment(),
    HOME: place,
    DRAY_CONFIG: join(place, 'config', 'config.json'),
  };
  const notes = join(place, 'notes');
  const cleanUps: (() => Promise<unknown>)[] = [() => rm(place, { recursive: true, force: true })];
  const stop = async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  };
  bench.atHeatEnd(stop);
  try {
    const server = await start({ folder, notes, environment });
    cleanUps.push(() => server.stop());
    if (latencyMs === 0) return { folder, server, port: server.port, notes, environment, stop };
    const network = await startToxiproxy({
      upstream: `http://127.0.0.1:${server.port}`,
      latencyMs,
    });
    cleanUps.push(() => network.stop());
    return { folder, server, port: Number(new URL(network.endpoint).port), notes, environment, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Hides the developer's own settings. Programs installed by pip still find their packages. */
export function cleanEnvironment(): Environment {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(AWS|RCLONE|RSYNC|S3|DRAY|XDG|NODE_OPTIONS)(_|$)/.test(name),
  );
  const path = [BINARIES_FOLDER, process.env.PATH ?? ''].join(delimiter);
  return { ...Object.fromEntries(inherited), PATH: path };
}

/** A run of a tool against the offered folder. */
export function attemptAt(
  { server }: Pick<Offered, 'server'>,
  { command, check, close }: Pick<Attempt, 'command' | 'close'> & { check(): void },
): Attempt {
  return {
    command,
    serverCpuMs: () => server.cpuMs(),
    serverPort: server.port,
    check: async () => check(),
    close,
  };
}
