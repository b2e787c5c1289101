import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, describe, expect, it } from 'vitest';
import { areOneName, foldsUnicode, isCaseInsensitive } from './case-sensitivity.ts';

const folder = mkdtempSync(`${tmpdir()}/dray-case-`);
afterAll(() => rmSync(folder, { recursive: true }));

describe('case-sensitivity', () => {
  it('distinguishes every spelling on Linux, and not case on macOS and Windows', () => {
    expect(isCaseInsensitive(folder)).toBe(process.platform !== 'linux');
    expect(foldsUnicode(folder)).toBe(process.platform === 'darwin');
  });

  it('compares two given names of any length', () => {
    expect(areOneName(folder, 'a'.repeat(255), 'A'.repeat(255))).toBe(process.platform !== 'linux');
    expect(areOneName(folder, '\u00e9', 'e\u0301')).toBe(process.platform === 'darwin');
    expect(areOneName(folder, 'one', 'other')).toBe(false);
    expect(areOneName(folder, 'same', 'same')).toBe(true);
  });

  it('leaves no file behind', () => {
    areOneName(folder, 'a', 'A');
    isCaseInsensitive(folder);
    foldsUnicode(folder);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('names the folder that it cannot probe', () => {
    expect(() => isCaseInsensitive(`${folder}/absent`)).toThrow(expect.objectContaining({ code: 'io' }));
    expect(() => areOneName(`${folder}/absent`, 'a', 'A')).toThrow(expect.objectContaining({ code: 'io' }));
  });
});
