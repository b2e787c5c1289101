import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makerTag } from './process-life.ts';
import { newOwnName, replaceFile } from './replace-file.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dray-replace-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The name of this process with another process id. */
const nameOf = (start: string, pid: number) =>
  newOwnName(folder, start).replace(`-${process.pid}-`, `-${pid}-`);
const ended = () => spawnSync(process.execPath, ['-e', '']).pid;

it('replaces a file and removes only the temporary files of killed writers', () => {
  const path = join(folder, 'sub/config.json');
  mkdirSync(join(folder, 'sub'));
  const tag = makerTag().replace(`-${process.pid}-`, `-${ended()}-`);
  const running = makerTag().replace(`-${process.pid}-`, `-${process.ppid}-`).replace(/-\d+$/, '-0');
  const others = [
    `config.json.${makerTag()}.1.tmp`,
    `config.json.ffffffff-${ended()}-1.1.tmp`,
    'config.json.12.tmp',
    `config.json.${tag}.1.backup`,
    `other.json.${tag}.1.tmp`,
  ];
  for (const name of [...others, `config.json.${tag}.1.tmp`]) writeFileSync(join(folder, 'sub', name), '');
  // The parent runs, but this name gives another start time: the process id was reused.
  if (process.platform === 'linux') writeFileSync(join(folder, 'sub', `config.json.${running}.1.tmp`), '');
  replaceFile(path, 'one');
  expect(readFileSync(path, 'utf8')).toBe('one');
  expect(readdirSync(join(folder, 'sub')).sort()).toEqual(['config.json', ...others].sort());
});

it('removes the files that SQLite kept beside the file of a dead process', () => {
  const left = nameOf('unrelated-', ended()).replace('unrelated-', 'index-');
  for (const end of ['', '-wal', '-shm']) writeFileSync(left + end, '');
  newOwnName(folder, 'index-');
  expect(readdirSync(folder)).toEqual([]);
});

it('leaves no temporary file when it fails', () => {
  mkdirSync(join(folder, 'taken'));
  expect(() => replaceFile(join(folder, 'taken'), 'one')).toThrow();
  expect(readdirSync(folder)).toEqual(['taken']);
  expect(existsSync(join(folder, 'taken/one'))).toBe(false);
});
