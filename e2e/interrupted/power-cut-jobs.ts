/** Commands that write to a disk whose power is cut, and the state that each must reach. */
import { cpSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { type CliOptions, type CliResult, runCli } from '../../app/cli/run-cli.fixture.ts';
import type { Sandbox } from '../../engine/jobs/session/job.fixture.ts';
import { describeTree } from '../../engine/jobs/trees/same-trees.fixture.ts';
import { noise } from '../../engine/peer/peer.fixture.ts';
import type { S3Server } from '../servers/versitygw.ts';
import type { LoopDisks } from './loop-disk.ts';

const MIB = 1024 * 1024;
const SMALL_FILES = 240;
const LARGE_BYTES = 40 * MIB;
const MODIFIED_S = 1_700_000_000.5;
const IMAGE_MIB = 256;

export interface PowerCutBed {
  readonly disks: LoopDisks;
  /** The lines of `describeTree` that a whole file may have. */
  readonly wholeLines: ReadonlySet<string>;
  /** The tree's lines in the end. */
  readonly endLines: readonly string[];
  dray(parameters: readonly string[], options?: CliOptions): Promise<CliResult>;
}

export interface PowerCutJob {
  readonly name: string;
  readonly parameters: readonly string[];
  /** The tree that the command writes, below the mounted disk. */
  readonly root: string;
  /** The image that it starts with. */
  readonly template: string;
  readonly isWorkspace: boolean;
  /** A further check at the end. */
  readonly check?: () => Promise<void>;
}

export interface PowerCutSetup {
  readonly bed: PowerCutBed;
  readonly jobs: readonly PowerCutJob[];
}

/** @param tried The names of the jobs to set up. */
export async function setUpPowerCuts(
  sandbox: Sandbox,
  disks: LoopDisks,
  server: S3Server,
  tried: readonly string[],
): Promise<PowerCutSetup> {
  const { mountPoint } = disks;
  const environment = {
    ...server.environment,
    AWS_ENDPOINT_URL: server.endpoint,
    DRAY_AUTHOR: 'tester',
    DRAY_CACHE: sandbox.path('cache'),
    DRAY_CONFIG: sandbox.path('config.json'),
  };
  const dray = (parameters: readonly string[], options: CliOptions = {}) =>
    runCli(parameters, { cwd: sandbox.folder, ...options, environment });
  const done = async (...parameters: readonly string[]) => {
    const result = await dray(parameters);
    expect(result, `${parameters.join(' ')}\n${result.stderr}`).toMatchObject({ exitCode: 0 });
  };
  const template = async (job: string, name: string, prepare: () => Promise<void> | void) => {
    if (!tried.includes(job)) return;
    disks.make(name, IMAGE_MIB);
    disks.mount(name);
    await prepare();
    disks.unmount();
  };
  const work = sandbox.path('work');
  const store = sandbox.path('store');
  const on = (name: string) => join(mountPoint, name);

  writeTree(work, 1);
  const beginLines = describeTree(work);
  await done('init', work, '--remote', store);
  await done('-C', work, 'push', '-m', 'first');
  await template('clone', 'empty', () => {});
  await template('pull', 'pull', () => done('clone', store, on('pull')));
  await template('sync', 'sync', () =>
    cpSync(work, on('sync'), { recursive: true, preserveTimestamps: true, filter: isData }),
  );
  await template('push to file:', 'push', async () => {
    cpSync(work, on('push'), { recursive: true, preserveTimestamps: true, filter: isData });
    mkdirSync(on('push-store'));
    await done('init', on('push'), '--remote', on('push-store'));
    await done('-C', on('push'), 'push', '-m', 'first');
    writeTree(on('push'), 2);
  });
  writeTree(work, 2);
  const endLines = describeTree(work);
  await done('-C', work, 'push', '-m', 'second');
  await template('restore', 'restore', async () => {
    await done('clone', store, on('restore'));
    for (const [at, name] of readdirSync(on('restore/d0')).entries()) {
      if (at % 2 === 0) rmSync(on(`restore/d0/${name}`));
      else writeFileSync(on(`restore/d0/${name}`), 'edited');
    }
    rmSync(on('restore/d1'), { recursive: true });
    rmSync(on('restore/large.bin'));
  });
  await template('scope clear', 'widen', () => done('clone', store, on('widen'), '--only', 'd0/small-?'));
  await done('copy', work, `s3://${server.bucket}/tree`);

  const jobs: readonly PowerCutJob[] = [
    {
      name: 'clone',
      parameters: ['clone', store, on('clone')],
      root: on('clone'),
      template: 'empty',
      isWorkspace: true,
    },
    {
      name: 'pull',
      parameters: ['-C', on('pull'), 'pull'],
      root: on('pull'),
      template: 'pull',
      isWorkspace: true,
    },
    {
      name: 'copy',
      parameters: ['copy', `s3://${server.bucket}/tree`, on('copy')],
      root: on('copy'),
      template: 'empty',
      isWorkspace: false,
    },
    {
      name: 'sync',
      parameters: ['sync', work, on('sync')],
      root: on('sync'),
      template: 'sync',
      isWorkspace: false,
    },
    {
      name: 'restore',
      parameters: ['-C', on('restore'), 'restore', '.'],
      root: on('restore'),
      template: 'restore',
      isWorkspace: true,
    },
    {
      name: 'scope clear',
      parameters: ['-C', on('widen'), 'scope', 'clear'],
      root: on('widen'),
      template: 'widen',
      isWorkspace: true,
    },
    {
      name: 'push to file:',
      parameters: ['-C', on('push'), 'push', '-m', 'second'],
      root: on('push'),
      template: 'push',
      isWorkspace: true,
      check: async () => {
        await done('-C', on('push'), 'verify', '--read-data');
        const again = sandbox.path('again');
        rmSync(again, { recursive: true, force: true });
        await done('clone', on('push-store'), again);
        expect(describeTree(again)).toEqual(endLines);
      },
    },
  ];
  const wholeLines = new Set([...beginLines, ...endLines]);
  return { bed: { disks, dray, endLines, wholeLines }, jobs };
}

/** Version 2 changes a third of the small files, deletes a sixth, adds some, and has another large file. */
function writeTree(root: string, version: 1 | 2): void {
  for (let at = 0; at < SMALL_FILES; at += 1) {
    const path = join(root, `d${at % 4}`, `small-${at}`);
    if (version === 2 && at % 6 === 0) {
      rmSync(path, { force: true });
      write(join(root, `d${at % 4}`, `new-${at}`), noise(1 + ((at * 7_919) % 60_000), at % 256), version);
    } else if (version === 1 || at % 3 === 1)
      write(path, noise(1 + ((at * 7_919 + version) % 60_000), (at + version) % 256), version);
  }
  write(join(root, 'large.bin'), noise(LARGE_BYTES, version), version);
}

function write(path: string, content: Uint8Array, version: number): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  utimesSync(path, MODIFIED_S + version, MODIFIED_S + version);
}

const isData = (path: string): boolean => !path.includes('/.dray');
