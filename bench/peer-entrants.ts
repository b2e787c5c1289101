/** What entrants between machines share: a tool, its server over a folder, and a way to it. */
import { mkdir, rm } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { startToxiproxy } from '../e2e/servers/toxiproxy.ts';
import { roomyFolder } from '../e2e/servers/versitygw.ts';
import type { Bench } from './bench.ts';
import { type Command, runUnmeasured } from './measure.ts';
import { type Environment, type FolderServer, startDrayServe } from './peer-servers.ts';
import { BINARIES_FOLDER } from './peers.ts';
import type { Entrant } from './scenario.ts';

/** Beside what is offered to Dray lies what it remembers: as new as the folder. */
export interface Offered {
  readonly folder: string;
  readonly server: FolderServer;
  /** Of the server, or of what lies before it. */
  readonly port: number;
  /** A path that nothing is at, for notes of the tool; beside `folder`, not in it. */
  readonly notes: string;
  readonly environment: Environment;
  stop(): Promise<void>;
}

/** A tool, its server over a folder, and how it is told to bring something there. */
export interface Way {
  readonly name: string;
  readonly kind: Entrant['kind'];
  readonly missing?: string | undefined;
  readonly start: OfferOptions['start'];
  command(source: string, offered: Offered): Command;
}

/** What a way is made of that is missing. */
export const UNABLE: Pick<Way, 'start' | 'command'> = {
  start: () => Promise.reject(new Error('It is missing.')),
  command: () => {
    throw new Error('It is missing.');
  },
};

export interface OfferOptions {
  /** Of each round trip. */
  readonly latencyMs: number;
  /** That the folder will hold at once. */
  readonly bytes: number;
  start(offer: Pick<Offered, 'folder' | 'notes' | 'environment'>): Promise<FolderServer>;
}

/** In memory where there is room, as the stores of the other scenarios are. */
export async function offerFolder(bench: Bench, { bytes, latencyMs, start }: OfferOptions): Promise<Offered> {
  const memory = await roomyFolder(bytes * 2);
  const home = bench.newPath('offered');
  const place = join(memory, home.replaceAll('/', '-').slice(1));
  const folder = join(place, 'folder');
  await mkdir(folder, { recursive: true });
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

/** The developer's own settings must not meddle. Programs that pip installed find their like. */
function cleanEnvironment(): Environment {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(AWS|RCLONE|RSYNC|S3|DRAY|XDG|NODE_OPTIONS)(_|$)/.test(name),
  );
  const path = [BINARIES_FOLDER, process.env.PATH ?? ''].join(delimiter);
  return { ...Object.fromEntries(inherited), PATH: path };
}

export function startDray(program: string, isTls: boolean): OfferOptions['start'] {
  return ({ environment, folder, notes }) =>
    startDrayServe(program, { folder, tokenFile: tokenFileOf(notes), isTls }, environment);
}

/** Of the client: each asks a server whose token lies in a file beside what is offered. */
export function runDray(
  program: string,
  { environment, notes }: Pick<Offered, 'environment' | 'notes'>,
  args: readonly string[],
): Command {
  return {
    file: process.execPath,
    args: [program, ...args],
    environment: {
      ...environment,
      DRAY_TOKEN_FILE: tokenFileOf(notes),
      DRAY_CACHE: join(dirname(notes), 'cache'),
    },
  };
}

export function drayUrl({ port }: Pick<Offered, 'port'>, isTls: boolean, path = ''): string {
  return `dray://127.0.0.1:${port}/${path}${isTls ? '?tls=on' : ''}`;
}

function tokenFileOf(notes: string): string {
  return `${notes}.token`;
}

/** Why a build of Dray cannot take part; undefined when it can. */
export async function missingCommand(
  bench: Bench,
  program: string,
  name: string,
): Promise<string | undefined> {
  const command = {
    file: process.execPath,
    args: [program, name, '--help'],
    environment: cleanEnvironment(),
  };
  const output = await runUnmeasured(command, bench.signal).catch(() => {
    bench.signal.throwIfAborted();
    return '';
  });
  return output.includes(`dray ${name}`) ? undefined : `this build has no command "${name}"`;
}

export function createAbsent(name: string, kind: Entrant['kind'], missing: string): Entrant {
  return { name, kind, missing, prepare: () => Promise.reject(new Error(missing)) };
}
