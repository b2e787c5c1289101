/**
 * A workspace on a real S3 server that was pushed once and has since every kind of change that the Changes
 * screen shows.
 */
import { appendFileSync, readdirSync, renameSync, unlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { push } from '../../../engine/jobs/push/push.ts';
import { createS3Dataset, type S3Dataset } from '../../s3-dataset.ts';
import type { S3Server } from '../../servers/versitygw.ts';
import { encodePng } from './encode-png.ts';

export const WORK = 'survey';
const BINARY_BYTES = 40_000;

/** The paths that a push of the changed workspace would change, in the order of the flat view. */
export const CHANGED_PATHS = [
  'measurements/2026/march.csv',
  'measurements/2026/april.csv',
  'measurements/archive/station-7.bin',
  'measurements/raw.bin',
  'notes/method.md',
  'obsolete.txt',
  'pictures/map.png',
].sort();

export async function pushedDataset(server: S3Server, name: string): Promise<S3Dataset> {
  const dataset = createS3Dataset(server, name);
  const { sandbox } = dataset;
  await dataset.init(WORK);
  const write = (path: string, content: string | Uint8Array) => sandbox.write(`${WORK}/${path}`, content);
  write('notes/method.md', lines(40));
  write('notes/kept.md', 'stays as it is\n');
  write(
    'pictures/map.png',
    encodePng(64, () => [40, 90, 200]),
  );
  write('measurements/raw.bin', noise(BINARY_BYTES, 1));
  write('measurements/2026/march.csv', 'station,depth\n1,12.5\n');
  write('measurements/station-7.bin', noise(BINARY_BYTES, 2));
  write('obsolete.txt', 'nobody needs it\n');
  ageFiles(sandbox.path(WORK));
  await push(dataset.context(WORK), { message: 'First survey' });
  return dataset;
}

export function changeDataset({ sandbox }: S3Dataset): void {
  const at = (path: string) => sandbox.path(WORK, path);
  sandbox.write(`${WORK}/notes/method.md`, lines(40).replace('line 20\n', 'line 20, measured anew\n'));
  sandbox.write(
    `${WORK}/pictures/map.png`,
    encodePng(64, () => [200, 60, 40]),
  );
  sandbox.write(`${WORK}/measurements/raw.bin`, noise(BINARY_BYTES + 2_000, 3));
  sandbox.write(`${WORK}/measurements/2026/april.csv`, 'station,depth\n1,13.0\n2,9.5\n');
  appendFileSync(at('measurements/2026/march.csv'), '2,9.8\n');
  renameSync(at('measurements/station-7.bin'), at('measurements/archive/station-7.bin'));
  unlinkSync(at('obsolete.txt'));
}

/**
 * Makes files older: the next scan reads files of the current moment again, because they may still change.
 */
export function ageFiles(folder: string): void {
  const lastYear = new Date('2025-06-01T08:00:00Z');
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile() && !entry.parentPath.includes('.dray'))
      utimesSync(join(entry.parentPath, entry.name), lastYear, lastYear);
}

function lines(count: number): string {
  return Array.from({ length: count }, (_, line) => `line ${line + 1}\n`).join('');
}

/** Binary, incompressible content, equal for equal seeds. */
export function noise(bytes: number, seed: number): Buffer {
  const made = Buffer.allocUnsafe(bytes);
  let state = seed;
  for (let at = 0; at < bytes; at += 1) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    made[at] = state >>> 16;
  }
  return made;
}
