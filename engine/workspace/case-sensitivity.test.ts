import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, describe, expect, it } from 'vitest';
import { foldsUnicode, isCaseInsensitive } from './case-sensitivity.ts';

const folder = mkdtempSync(`${tmpdir()}/dray-case-`);
afterAll(() => rmSync(folder, { recursive: true }));

describe('case-sensitivity', () => {
  it('says of a usual Linux file system that every spelling is another name, of a usual macOS or Windows one that none is', () => {
    expect(isCaseInsensitive(folder)).toBe(process.platform !== 'linux');
    expect(foldsUnicode(folder)).toBe(process.platform === 'darwin');
  });

  it('leaves nothing behind', () => {
    isCaseInsensitive(folder);
    foldsUnicode(folder);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('says which folder cannot be asked', () => {
    expect(() => isCaseInsensitive(`${folder}/absent`)).toThrow(expect.objectContaining({ code: 'io' }));
  });
});
