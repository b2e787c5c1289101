import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { takenHere } from './taken-names.ts';

it('the names that a copy would replace are found in a folder, and a file is refused in words', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dray-taken-names-'));
  try {
    mkdirSync(join(folder, 'a'));
    writeFileSync(join(folder, 'b'), '');
    const at = (path: string) => ({ kind: 'local', path, text: path, isFolderForm: false }) as const;
    expect(takenHere(at(folder), ['a', 'b', 'c'])).toEqual(['a', 'b']);
    expect(takenHere(at(join(folder, 'none')), ['a'])).toEqual([]);
    expect(() => takenHere(at(join(folder, 'b')), ['a'])).toThrow(`${join(folder, 'b')} is not a folder.`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
