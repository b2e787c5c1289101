/** Entrants that copy a tree to another machine: to an empty folder, and again when everything is there. */
import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type DatasetShape, pathOfFile } from '../data/dataset.ts';
import { checkArrival } from '../data/fingerprint.ts';
import type { Bench, Dataset } from '../machines/bench.ts';
import { runUnmeasured } from '../machines/measure.ts';
import { attemptAt, type Offered, offerFolder } from '../machines/offered-folder.ts';
import { datasetHolding, type Needs } from '../scenarios/holding.ts';
import { roomOf } from '../scenarios/room.ts';
import type { Attempt, Entrant } from '../scenarios/scenario.ts';
import {
  createDrayWay,
  createEntrant,
  createRcloneWay,
  createRsyncWay,
  type DrayWay,
  missingCommand,
  RCLONE_BUCKET,
  RCLONE_WAYS,
  RSYNC,
  type Way,
} from './peer-ways.ts';

export const DRAY_PEER = 'dray copy (peer)';
const DRAY_TLS = 'dray copy (peer, TLS)';
/** By WebDAV rclone sends 50,000 files in half an hour; the others take seconds to minutes. */
export const TREE_LIMIT_MS = 5 * 60_000;

/** The owner of the tree, whose modes differ from those of new files. */
const OWNER = 'peers';
/** The ways of Dray, rsync and rclone. */
const WAYS_MAX = 3 + RCLONE_WAYS.length;

export interface PeerTreeOptions {
  readonly shape: DatasetShape;
  readonly work: 'fresh' | 'again';
  readonly latencyMs: number;
  /** The program that Node runs as Dray. */
  readonly program: string;
}

interface TreeWay extends Way {
  /** False when the tool's way cannot keep modes. */
  readonly keepsModes: boolean;
  /** The tree's root below the offered folder. */
  readonly root?: string;
}

/** Room for what arrived at one machine at a time, or at one machine for each tool. */
export function needsOfPeerTree(shape: DatasetShape, work: PeerTreeOptions['work']): Needs {
  const machines = work === 'fresh' ? 1 : WAYS_MAX;
  return { holdings: [datasetHolding(shape, OWNER)], offered: roomOf(shape, machines) };
}

export async function openPeerTree(bench: Bench, options: PeerTreeOptions): Promise<readonly Entrant[]> {
  const { latencyMs, shape, work } = options;
  const data = await bench.dataset(shape, OWNER);
  varyModes(data.folder, shape);
  const sums: { stats?: string } = {};
  const check = ({ keepsModes, root = '' }: TreeWay, offered: Offered) => {
    const arrived = join(offered.folder, root);
    checkArrival(arrived, data.fingerprint());
    if (!keepsModes) return;
    sums.stats ??= statsOf(data.folder);
    if (statsOf(arrived) !== sums.stats) throw new Error('the copy has other modes or times');
  };
  const offer = (way: TreeWay) => offerFolder(bench, { latencyMs, room: roomOf(shape), start: way.start });
  const ways = await listWays(bench, options);
  const create = work === 'fresh' ? createFresh : createAgain;
  return ways.map((way) =>
    createEntrant(way, create({ way, data, offer, check: (offered) => check(way, offered), bench })),
  );
}

interface Run {
  readonly bench: Bench;
  readonly way: TreeWay;
  readonly data: Dataset;
  offer(way: TreeWay): Promise<Offered>;
  check(offered: Offered): void;
}

/** Each run has its own server, over an empty folder. */
function createFresh({ check, data, offer, way }: Run): Pick<Entrant, 'prepare'> {
  return {
    prepare: async (): Promise<Attempt> => {
      const offered = await offer(way);
      return attemptAt(offered, {
        command: way.command(data.folder, offered),
        check: () => check(offered),
        close: () => offered.stop(),
      });
    },
  };
}

/** The first copy lets tools fill their caches. The folder and its server stay until the heat ends. */
function createAgain({ bench, check, data, offer, way }: Run): Pick<Entrant, 'setUp' | 'prepare'> {
  let kept: Offered | undefined;
  return {
    setUp: async () => {
      kept = await offer(way);
      await runUnmeasured(way.command(data.folder, kept), bench.signal, TREE_LIMIT_MS);
    },
    prepare: async () => {
      if (!kept) throw new Error('The first copy is missing.');
      const offered = kept;
      return attemptAt(offered, {
        command: way.command(data.folder, offered),
        check: () => check(offered),
        close: async () => {},
      });
    },
  };
}

async function listWays(bench: Bench, { latencyMs, program }: PeerTreeOptions): Promise<readonly TreeWay[]> {
  const missing = await missingCommand(bench, program, 'serve');
  const args: DrayWay['args'] = (source, url) => ['copy', source, url];
  const dray = { program, missing, target: '', args };
  const rsync = await createRsyncWay(RSYNC, ['--whole-file'], { sourceEnd: '/' });
  return [
    { ...createDrayWay({ ...dray, name: DRAY_PEER, isTls: false }), keepsModes: true },
    { ...createDrayWay({ ...dray, name: DRAY_TLS, isTls: true }), keepsModes: true },
    { ...rsync, keepsModes: true },
    ...(await listRcloneWays(bench, latencyMs)),
  ];
}

/** Lists rclone's ways if rclone was requested. A way without a server has no latency. */
async function listRcloneWays(bench: Bench, latencyMs: number): Promise<readonly TreeWay[]> {
  if (!bench.contenders.has('rclone')) return [];
  const names = RCLONE_WAYS.filter((name) => latencyMs === 0 || name !== 'rclone (local)');
  return Promise.all(
    names.map(async (name) => ({
      ...(await createRcloneWay(name)),
      keepsModes: false,
      ...(name === 'rclone (serve s3)' ? { root: RCLONE_BUCKET } : {}),
    })),
  );
}

const MODES = [0o644, 0o600, 0o755] as const;

/** Sets unusual modes, because a lost mode only shows where it differs from a new file's. */
function varyModes(folder: string, { files }: DatasetShape): void {
  for (let index = 0; index < files; index += 1)
    chmodSync(join(folder, pathOfFile(index)), MODES[index % MODES.length]!);
}

/**
 * One hash of what `rsync -a` keeps besides contents: all permission bits, and times of everything except
 * folders.
 */
function statsOf(root: string): string {
  const hash = createHash('sha256');
  const visit = (folder: string) => {
    const items = readdirSync(join(root, folder), { withFileTypes: true });
    items.sort((left, right) => (left.name < right.name ? -1 : 1));
    for (const item of items) {
      const path = join(folder, item.name);
      // Files that a running peer keeps at the top for itself are not offered.
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
