/**
 * The commands by which tools copy something to another machine, where one of their servers offers a folder.
 */
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

/** A tool, its server over a folder, and its command to copy something there. */
export interface Way {
  readonly name: string;
  readonly kind: Entrant['kind'];
  readonly missing?: string | undefined;
  readonly start: OfferOptions['start'];
  command(source: string, offered: Offered): Command;
}

/** Makes an entrant of its runs, or of the reason why there are none. */
export function createEntrant(way: Way, runs: Pick<Entrant, 'setUp' | 'prepare'>): Entrant {
  const { kind, missing, name } = way;
  if (missing === undefined) return { name, kind, ...runs };
  return { name, kind, missing, prepare: () => Promise.reject(new Error(missing)) };
}

/** A way that cannot be used, with the reason. */
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
  /** The program that Node runs. */
  readonly program: string;
  /** False: plain HTTP. */
  readonly isTls: boolean;
  /** The path below the offered folder; '' for the whole folder. */
  readonly target: string;
  args(source: string, url: string): readonly string[];
}

/** Client and server share a token in a file beside the offered folder. */
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

/** Returns why a build of Dray cannot take part, or undefined when it can. */
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

/**
 * `sourceEnd`: a slash selects the folder's content instead of the folder. `target`: the path below the
 * offered folder.
 */
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

/** pdiffcopy only updates a single file in place. */
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

/** rclone's ways to move files without a store. `local` uses no server and no network. */
export const RCLONE_WAYS = ['rclone (local)', 'rclone (webdav)', 'rclone (serve s3)'] as const;
/** The bucket below the offered folder when the server speaks S3. */
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
            // This WebDAV dialect keeps times.
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
