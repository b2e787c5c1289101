import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sweepTemporaryFolder, temporaryPrefix } from './temporary-names.ts';
import { openTreeWriter } from './tree-writer.ts';

const HOUR_MS = 60 * 60 * 1000;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(`${tmpdir()}/dray-temporary-`);
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('temporary files', () => {
  it('have a separate prefix for each writer', () => {
    expect(temporaryPrefix(folder)).not.toBe(temporaryPrefix(folder));
  });

  it('of a dead process are removed; those of a live one and foreign files stay', () => {
    const dead = spawnSync(process.execPath, ['-e', '']).pid;
    const mine = `${temporaryPrefix(folder)}1.0`;
    const left = mine.replace(`-${process.pid}-`, `-${dead}-`);
    writeFileSync(mine, '');
    writeFileSync(left, '');
    writeFileSync(`${folder}/dray-notes`, '');
    sweepTemporaryFolder(folder, Date.now());
    expect(readdirSync(folder).sort()).toEqual([mine.slice(folder.length + 1), 'dray-notes'].sort());
  });

  it('of another host or a reused process id are removed after a day', () => {
    const mine = `${temporaryPrefix(folder)}1.0`;
    const elsewhere = mine.replace(/dray-[0-9a-f]{8}-\d+/, 'dray-00000000-999999999');
    writeFileSync(mine, '');
    writeFileSync(elsewhere, '');
    sweepTemporaryFolder(folder, Date.now() + 23 * HOUR_MS);
    expect(readdirSync(folder)).toHaveLength(2);
    sweepTemporaryFolder(folder, Date.now() + 25 * HOUR_MS);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('of a long-lived writer stay, and those that others left meanwhile are removed', async () => {
    const temporaryFolder = `${folder}/.dray-tmp`;
    const { signal } = new AbortController();
    const writer = openTreeWriter({ root: folder, temporaryFolder, isTemporaryFolderOwn: true, signal });
    writer.newTemporary();
    const [holder] = readdirSync(temporaryFolder);
    const dead = spawnSync(process.execPath, ['-e', '']).pid;
    const left = holder!.replace(`-${process.pid}-`, `-${dead}-`);
    writeFileSync(`${temporaryFolder}/${left}`, '');
    writer.tend(Date.now() + 25 * HOUR_MS);
    expect(readdirSync(temporaryFolder)).toEqual([holder]);
    await writer.close();
    expect(readdirSync(folder)).toEqual([]);
  });
});
