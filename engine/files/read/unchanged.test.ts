import { lstatSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createSandbox, type Sandbox } from '../../jobs/session/job.fixture.ts';
import { checkFileUnchanged } from './unchanged.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox[Symbol.dispose]());

it('takes a file whose folder became a file for one that has changed', () => {
  sandbox.write('folder/a', 'one');
  const path = join(sandbox.folder, 'folder/a');
  const { ctimeMs, ino: inode, mtimeMs, size: sizeBytes } = lstatSync(path);
  const check = () => checkFileUnchanged(path, 'folder/a', { sizeBytes, mtimeMs, ctimeMs, inode });
  check();
  rmSync(sandbox.path('folder'), { recursive: true });
  sandbox.write('folder', 'a file now');
  expect(check).toThrow('folder/a changed while it was read');
});
