import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, describe, expect, it } from 'vitest';
import { areOneName, foldsUnicode, isCaseInsensitive } from './case-sensitivity.ts';

const folder = mkdtempSync(`${tmpdir()}/dray-case-`);
afterAll(() => rmSync(folder, { recursive: true }));

describe('case-sensitivity', () => {
  it('says of a usual Linux file system that every spelling is another name, of a usual macOS or Windows one that none is', () => {
    expect(isCaseInsensitive(folder)).toBe(process.platform !== 'linux');
    expect(foldsUnicode(folder)).toBe(process.platform === 'darwin');
  });

  it('says of just two names whether they are one, however long they are', () => {
    expect(areOneName(folder, 'a'.repeat(255), 'A'.repeat(255))).toBe(process.platform !== 'linux');
    expect(areOneName(folder, '\u00e9', 'e\u0301')).toBe(process.platform === 'darwin');
    expect(areOneName(folder, 'one', 'other')).toBe(false);
    expect(areOneName(folder, 'same', 'same')).toBe(true);
  });

  it('leaves nothing behind', () => {
    areOneName(folder, 'a', 'A');
    isCaseInsensitive(folder);
    foldsUnicode(folder);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('says which folder cannot be asked', () => {
    expect(() => isCaseInsensitive(`${folder}/absent`)).toThrow(expect.objectContaining({ code: 'io' }));
    expect(() => areOneName(`${folder}/absent`, 'a', 'A')).toThrow(expect.objectContaining({ code: 'io' }));
  });
});
