import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findUnsyncedMarks, markUnsynced, removeUnsyncedMarks, sweepUnsyncedMarks } from './unsynced-mark.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dray-mark-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const DAY_MS = 24 * 60 * 60 * 1000;

describe('The mark of a run that writes', () => {
  it('does not count while its run continues, and is gone when all is synced', () => {
    const end = markUnsynced(folder, 'a note');
    expect(readdirSync(folder)).toHaveLength(1);
    expect(findUnsyncedMarks(folder)).toEqual([]);
    end(true);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is found with its note and its time when the run ended without a sync', () => {
    const beforeMs = Date.now();
    markUnsynced(folder, 'a note')(false);
    const [mark] = findUnsyncedMarks(folder);
    expect(mark).toMatchObject({ note: 'a note' });
    expect(Math.abs(mark!.madeMs - beforeMs)).toBeLessThan(DAY_MS);
    removeUnsyncedMarks([mark!]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is found when another process has the number of its own by now', () => {
    const end = markUnsynced(folder, 'a note');
    const [name = ''] = readdirSync(folder);
    const path = `${folder}/${name.replace(`-${process.pid}-`, `-${process.ppid}-`)}`;
    renameSync(`${folder}/${name}`, path);
    const before = JSON.parse(readFileSync(path, 'utf8')) as { life: { numbering: string } };
    expect(findUnsyncedMarks(folder)).toMatchObject([{ note: 'a note' }]);
    // After another start of the machine.
    writeFileSync(path, JSON.stringify({ ...before, life: { ...before.life, numbering: 'another start' } }));
    expect(findUnsyncedMarks(folder)).toMatchObject([{ note: 'a note' }]);
    end(true);
  });

  it('counts though its own content is lost', () => {
    markUnsynced(folder, 'a note')(false);
    writeFileSync(`${folder}/${readdirSync(folder)[0]}`, '\0\0\0');
    expect(findUnsyncedMarks(folder)).toMatchObject([{ note: '' }]);
  });

  it('is no link and no other file', () => {
    markUnsynced(folder, 'a note')(false);
    const [name = ''] = readdirSync(folder);
    renameSync(`${folder}/${name}`, `${folder}/other`);
    symlinkSync('other', `${folder}/${name}`);
    expect(findUnsyncedMarks(folder)).toEqual([]);
  });

  it('is swept a week after it was left', () => {
    markUnsynced(folder, 'a note')(false);
    sweepUnsyncedMarks(folder, Date.now() + 6 * DAY_MS);
    expect(readdirSync(folder)).toHaveLength(1);
    const old = new Date(Date.now() - 8 * DAY_MS);
    utimesSync(`${folder}/${readdirSync(folder)[0]}`, old, old);
    sweepUnsyncedMarks(folder, Date.now());
    expect(readdirSync(folder)).toEqual([]);
  });
});
