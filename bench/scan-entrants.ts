/** Entrants that look through a large workspace in which nothing changed, with the index warm. */
import { rm } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { formatCount } from '../engine/api/numbers.ts';
import type { Bench } from './bench.ts';
import { DRAY_COMMAND } from './contenders.ts';
import type { DatasetShape } from './dataset.ts';
import { type Command, runUnmeasured } from './measure.ts';
import type { Entrant } from './scenario.ts';

export interface ScanOptions {
  readonly shapes: readonly DatasetShape[];
}

export type ScanCommand = 'status' | 'push';

export function scanEntrantName(command: ScanCommand, shape: DatasetShape): string {
  return `dray ${command}, ${formatCount(shape.files)} files`;
}

/** The remote is a plain folder: what is measured is the scan, the index and the comparison, not a link. */
export async function openScan(bench: Bench, { shapes }: ScanOptions): Promise<readonly Entrant[]> {
  return shapes.flatMap((shape) => {
    let workspace: Promise<string> | undefined;
    return (['status', 'push'] as const).map((command): Entrant => {
      const open = () => {
        workspace ??= openWorkspace(bench, shape);
        return workspace;
      };
      return {
        name: scanEntrantName(command, shape),
        kind: 'dray',
        setUp: async () => {
          await open();
        },
        prepare: async () => ({
          command: drayCommand('-C', await open(), command, '--json'),
          check: async ({ output }) => checkUnchanged(output, command, shape),
          close: async () => {},
        }),
      };
    });
  });
}

async function openWorkspace(bench: Bench, shape: DatasetShape): Promise<string> {
  const { folder } = await bench.dataset(shape, 'dray');
  await rm(`${folder}/.dray`, { recursive: true, force: true });
  const remote = pathToFileURL(bench.newPath('remote')).href;
  await runUnmeasured(drayCommand('init', folder, '--remote', remote), bench.signal);
  await runUnmeasured(drayCommand('-C', folder, 'push', '-m', 'figures', '--quiet'), bench.signal);
  return folder;
}

function drayCommand(...args: readonly string[]): Command {
  return {
    file: process.execPath,
    args: [DRAY_COMMAND, ...args],
    environment: { ...process.env, DRAY_AUTHOR: 'bench' },
  };
}

/** The summary is the last line. */
function checkUnchanged(output: string, command: ScanCommand, shape: DatasetShape): void {
  const summary = JSON.parse(output.trim().split('\n').at(-1) ?? '');
  const { added, modified, deleted } = summary.changes;
  if (added + modified + deleted !== 0) throw new Error('it found changes where there are none');
  if (command === 'status' && summary.files !== shape.files)
    throw new Error(`it saw ${summary.files} of ${shape.files} files`);
  if (command === 'push' && summary.result !== 'nothingToPush') throw new Error('it pushed again');
}
