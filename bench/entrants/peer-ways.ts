/** How tools are told to bring something to another machine, where a server of theirs offers a folder. */
import { dirname, join } from 'node:path';
import type { Bench } from '../machines/bench.ts';
import { type Command, runUnmeasured } from '../machines/measure.ts';
import { cleanEnvironment, type Offered, type OfferOptions } from '../machines/offered-folder.ts';
import {
  RSYNC_MODULE,
  startDrayServe,
  startPdiffcopy,
  startRcloneS3,
  startRcloneWebdav,
  startRsyncDaemon,
} from '../machines/peer-servers.ts';
import { type FolderPeerName, findPeer, type PeerName } from '../machines/peers.ts';
import type { Entrant } from '../scenarios/scenario.ts';

/** A tool, its server over a folder, and how it is told to bring something there. */
export interface Way {
  readonly name: string;
  readonly kind: Entrant['kind'];
  readonly missing?: string | undefined;
  readonly start: OfferOptions['start'];
  command(source: string, offered: Offered): Command;
}

/** Its runs, or the row that says why there are none. */
export function createEntrant(way: Way, runs: Pick<Entrant, 'setUp' | 'prepare'>): Entrant {
  const { kind, missing, name } = way;
  if (missing === undefined) return { name, kind, ...runs };
  return { name, kind, missing, prepare: () => Promise.reject(new Error(missing)) };
}

/** What a way is that nobody goes. */
export function createAbsent(name: string, missing: string): Way {
  return {
    name,
    kind: 'peer',
    missing,
    start: () => Promise.reject(new Error(missing)),
    command: () => {
      throw new Error(missing);
    },
  };
}

export interface DrayWay extends Pick<Way, 'name' | 'missing'> {
  /** What Node runs. */
  readonly program: string;
  /** Over plain HTTP otherwise. */
  readonly isTls: boolean;
  /** Below what is offered; '' for all of it. */
  readonly target: string;
  args(source: string, url: string): readonly string[];
}

/** Client and server share a token, in a file beside what is offered. */
export function createDrayWay({ args, isTls, missing, name, program, target }: DrayWay): Way {
  const tokenFileOf = (notes: string) => `${notes}.token`;
  return {
    name,
    kind: 'dray',
    missing,
    start: ({ environment, folder, notes }) =>
      startDrayServe(program, { folder, tokenFile: tokenFileOf(notes), isTls }, environment),
    command: (source, { environment, notes, port }) => ({
      file: process.execPath,
      args: [
        program,
        ...args(source, `dray://127.0.0.1:${port}/${target}?tls=${isTls ? 'on' : 'off'}`),
        ...(isTls ? ['--trust-new-peer'] : []),
      ],
      environment: {
        ...environment,
        DRAY_TOKEN_FILE: tokenFileOf(notes),
        DRAY_CACHE: join(dirname(notes), 'cache'),
      },
    }),
  };
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

export const RSYNC = 'rsync daemon';

/** `sourceEnd`: a slash stands for what is in the folder, instead of the folder. `target`: below what is offered. */
export function createRsyncWay(
  name: string,
  options: readonly string[],
  { sourceEnd = '', target = '' }: { readonly sourceEnd?: string; readonly target?: string },
): Promise<Way> {
  return createPeerWay('rsync', name, (path) => ({
    start: ({ environment, folder, notes }) => startRsyncDaemon(path, folder, notes, environment),
    command: (source, { environment, port }) => ({
      file: path,
      args: [
        '-a',
        ...options,
        `${source}${sourceEnd}`,
        `rsync://127.0.0.1:${port}/${RSYNC_MODULE}/${target}`,
      ],
      environment,
    }),
  }));
}

/** In place, and nothing but one file: it has no other way. */
export function createPdiffcopyWay(
  name: string,
  { options, target }: { readonly options: readonly string[]; readonly target: string },
): Promise<Way> {
  return createPeerWay('pdiffcopy', name, (path) => ({
    start: ({ environment }) => startPdiffcopy(path, environment),
    command: (source, { environment, folder, port }) => ({
      file: path,
      args: [...options, source, `http://127.0.0.1:${port}${join(folder, target)}`],
      environment,
    }),
  }));
}

/** The ways in which rclone moves files without a store; with no server at all it needs no network. */
export const RCLONE_WAYS = ['rclone (local)', 'rclone (webdav)', 'rclone (serve s3)'] as const;
/** A folder below what is offered, when the server is one of S3. */
export const RCLONE_BUCKET = 'bench';

export function createRcloneWay(name: (typeof RCLONE_WAYS)[number]): Promise<Way> {
  return createPeerWay('rclone', name, (path) => {
    const copy = (source: string, to: string, { environment }: Pick<Offered, 'environment'>): Command => ({
      file: path,
      args: ['copy', source, to, '--transfers', '16', '--checkers', '16', '--config', '/dev/null'],
      environment,
    });
    switch (name) {
      case 'rclone (local)':
        return {
          start: async () => ({ port: 0, cpuMs: async () => 0, stop: async () => {} }),
          command: (source, offered) => copy(source, offered.folder, offered),
        };
      case 'rclone (webdav)':
        return {
          start: ({ environment, folder }) => startRcloneWebdav(path, folder, environment),
          command: (source, offered) =>
            // This dialect of WebDAV keeps times.
            copy(source, `:webdav,vendor=rclone,url='http://127.0.0.1:${offered.port}':`, offered),
        };
      case 'rclone (serve s3)': {
        const keys = 'access_key_id=a,secret_access_key=a';
        return {
          start: ({ environment, folder }) => startRcloneS3(path, folder, environment),
          command: (source, offered) => {
            const server = `endpoint='http://127.0.0.1:${offered.port}'`;
            return copy(source, `:s3,provider=Rclone,${server},${keys}:${RCLONE_BUCKET}`, offered);
          },
        };
      }
    }
  });
}

async function createPeerWay(
  peer: PeerName | FolderPeerName,
  name: string,
  create: (path: string) => Pick<Way, 'start' | 'command'>,
): Promise<Way> {
  const found = await findPeer(peer);
  if ('missing' in found) return createAbsent(name, found.missing);
  return { name, kind: 'peer', ...create(found.path) };
}
