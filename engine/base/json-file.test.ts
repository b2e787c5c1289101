import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readJsonFile, writeJsonFile } from './json-file.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dray-json-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it.skipIf(process.platform === 'win32')('a file of the window is not for other users of the machine', () => {
  const path = join(folder, 'changes', 'a.json');
  writeJsonFile(path, { message: 'not yet announced' });
  expect(statSync(path).mode & 0o077).toBe(0);
  expect(statSync(join(folder, 'changes')).mode & 0o077).toBe(0);
});

it('a damaged file is set aside and treated as missing', () => {
  const path = join(folder, 'a.json');
  writeFileSync(path, '{"a":');
  expect(readJsonFile(path, v.object({ a: v.number() }))).toBeUndefined();
  expect(existsSync(`${path}.damaged`)).toBe(true);
});
