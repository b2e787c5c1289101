/** Entrants that bring a tree to another machine: where nothing is yet, and where all is there already. */
import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench, Dataset } from './bench.ts';
import { type DatasetShape, diskBytesOf, pathOfFile } from './dataset.ts';
import { checkArrival } from './fingerprint.ts';
import { type Command, runUnmeasured } from './measure.ts';
import {
  createAbsent,
  drayUrl,
  missingCommand,
  type Offered,
  offerFolder,
  runDray,
  startDray,
  UNABLE,
  type Way,
} from './peer-entrants.ts';
import { RSYNC_MODULE, startRcloneS3, startRcloneWebdav, startRsyncDaemon } from './peer-servers.ts';
import { findPeer } from './peers.ts';
import type { Attempt, Entrant } from './scenario.ts';

export const DRAY_PEER = 'dray copy (peer)';
export const DRAY_TLS = 'dray copy (peer, TLS)';
export const RSYNC = 'rsync daemon';
/** The ways in which rclone moves files without a store; with no server at all it needs no network. */
export const RCLONE_WAYS = ['rclone (local)', 'rclone (webdav)', 'rclone (serve s3)'] as const;

export interface PeerTreeOptions {
  readonly shape: DatasetShape;
  readonly work: 'fresh' | 'again';
  readonly latencyMs: number;
  /** What Node runs as Dray. */
  readonly program: string;
}

interface TreeWay extends Way {
  /** False: the way has no place for modes. */
  readonly keepsModes: boolean;
  /** What it leaves of the tree, below the offered folder. */
  readonly root?: string;
}

export async function openPeerTree(bench: Bench, options: PeerTreeOptions): Promise<readonly Entrant[]> {
  const { latencyMs, shape, work } = options;
  const data = await bench.dataset(shape, 'peers');
  varyModes(data.folder, shape);
  const sums: { stats?: string } = {};
  const check = ({ keepsModes, root = '' }: TreeWay, offered: Offered) => {
    const arrived = join(offered.folder, root);
    checkArrival(arrived, data.fingerprint());
    if (!keepsModes) return;
    sums.stats ??= statsOf(data.folder);
    if (statsOf(arrived) !== sums.stats) throw new Error('modes or times of what arrived are others');
  };
  const offer = (way: TreeWay) =>
    offerFolder(bench, { latencyMs, bytes: diskBytesOf(shape), start: way.start });
  const ways = await listWays(bench, options);
  return ways.map((way): Entrant => {
    if (way.missing !== undefined) return createAbsent(way.name, way.kind, way.missing);
    const { name, kind } = way;
    const create = work === 'fresh' ? createFresh : createAgain;
    return { name, kind, ...create({ way, data, offer, check: (offered) => check(way, offered), bench }) };
  });
}

interface Run {
  readonly bench: Bench;
  readonly way: TreeWay;
  readonly data: Dataset;
  offer(way: TreeWay): Promise<Offered>;
  check(offered: Offered): void;
}

/** Each run has a server of its own, over a folder that is empty. */
function createFresh({ check, data, offer, way }: Run): Pick<Entrant, 'prepare'> {
  return {
    prepare: async (): Promise<Attempt> => {
      const offered = await offer(way);
      return {
        command: way.command(data.folder, offered),
        serverCpuMs: () => offered.server.cpuMs(),
        serverPort: offered.server.port,
        check: async () => check(offered),
        close: () => offered.stop(),
      };
    },
  };
}

/** Tools that remember have had the chance to. The folder stays until the bench ends, with its server. */
function createAgain({ bench, check, data, offer, way }: Run): Pick<Entrant, 'setUp' | 'prepare'> {
  let kept: Offered | undefined;
  return {
    setUp: async () => {
      kept = await offer(way);
      bench.atEnd(() => kept?.stop() ?? Promise.resolve());
      await runUnmeasured(way.command(data.folder, kept), bench.signal);
    },
    prepare: async () => {
      if (!kept) throw new Error('The first copy is missing.');
      const offered = kept;
      return {
        command: way.command(data.folder, offered),
        serverCpuMs: () => offered.server.cpuMs(),
        serverPort: offered.server.port,
        check: async () => check(offered),
        close: async () => {},
      };
    },
  };
}

async function listWays(bench: Bench, { latencyMs, program }: PeerTreeOptions): Promise<readonly TreeWay[]> {
  const missing = await missingCommand(bench, program, 'serve');
  const dray = ([false, true] as const).map(
    (isTls): TreeWay => ({
      name: isTls ? DRAY_TLS : DRAY_PEER,
      kind: 'dray',
      missing,
      keepsModes: true,
      start: startDray(program, isTls),
      command: (source, offered) => runDray(program, offered, ['copy', source, drayUrl(offered, isTls)]),
    }),
  );
  return [...dray, await createRsync(), ...(await listRcloneWays(bench, latencyMs))];
}

async function createRsync(): Promise<TreeWay> {
  const rsync = await findPeer('rsync');
  const shared = { name: RSYNC, kind: 'peer', keepsModes: true } as const;
  if ('missing' in rsync) return { ...shared, missing: rsync.missing, ...UNABLE };
  return {
    ...shared,
    start: ({ environment, folder, notes }) => startRsyncDaemon(rsync.path, folder, notes, environment),
    command: (source, { environment, port }) => ({
      file: rsync.path,
      args: ['-a', '--whole-file', `${source}/`, `rsync://127.0.0.1:${port}/${RSYNC_MODULE}/`],
      environment,
    }),
  };
}

const BUCKET = 'bench';

/** Only where rclone was asked for. Without a server there is no latency that it could feel. */
async function listRcloneWays(bench: Bench, latencyMs: number): Promise<readonly TreeWay[]> {
  if (!bench.contenders.has('rclone')) return [];
  const rclone = await findPeer('rclone');
  if ('missing' in rclone)
    return RCLONE_WAYS.map((name) => ({
      name,
      kind: 'peer',
      keepsModes: false,
      missing: rclone.missing,
      ...UNABLE,
    }));
  const { path } = rclone;
  const copy = (source: string, to: string, environment: Offered['environment']): Command => ({
    file: path,
    args: ['copy', source, to, '--transfers', '16', '--checkers', '16', '--config', '/dev/null'],
    environment,
  });
  const [local, webdav, s3] = RCLONE_WAYS;
  const ways: readonly TreeWay[] = [
    {
      name: local,
      kind: 'peer',
      keepsModes: false,
      start: async () => ({ port: 0, cpuMs: async () => 0, stop: async () => {} }),
      command: (source, { environment, folder }) => copy(source, folder, environment),
    },
    {
      name: webdav,
      kind: 'peer',
      keepsModes: false,
      start: ({ environment, folder }) => startRcloneWebdav(path, folder, environment),
      command: (source, { environment, port }) =>
        // This dialect of WebDAV keeps times.
        copy(source, `:webdav,vendor=rclone,url='http://127.0.0.1:${port}':`, environment),
    },
    {
      name: s3,
      kind: 'peer',
      keepsModes: false,
      root: BUCKET,
      start: ({ environment, folder }) => startRcloneS3(path, folder, environment),
      command: (source, { environment, port }) =>
        copy(
          source,
          `:s3,provider=Rclone,endpoint='http://127.0.0.1:${port}',access_key_id=a,secret_access_key=a:${BUCKET}`,
          environment,
        ),
    },
  ];
  return latencyMs === 0 ? ways : ways.filter(({ name }) => name !== local);
}

const MODES = [0o644, 0o600, 0o755] as const;

/** What is not kept shows only where it is not what new files get anyway. */
function varyModes(folder: string, { files }: DatasetShape): void {
  for (let index = 0; index < files; index += 1)
    chmodSync(join(folder, pathOfFile(index)), MODES[index % MODES.length]!);
}

/** One hash of what `rsync -a` keeps beside the content: permission bits of all, times of what is no folder. */
export function statsOf(root: string): string {
  const hash = createHash('sha256');
  const visit = (folder: string) => {
    const items = readdirSync(join(root, folder), { withFileTypes: true });
    items.sort((left, right) => (left.name < right.name ? -1 : 1));
    for (const item of items) {
      const path = join(folder, item.name);
      // What a peer keeps for itself at the top while it runs is not offered.
      if (path === '.dray-peer' || path === '.dray-tmp') continue;
      const { mode, mtimeNs } = lstatSync(join(root, path), { bigint: true });
      const time = item.isDirectory() ? '' : mtimeNs;
      hash.update(`${path}\0${mode}\0${time}\0`);
      if (item.isDirectory()) visit(path);
    }
  };
  visit('');
  return hash.digest('hex');
}
