/** Files on both sides, by whole runs: what one run remembers must not mislead the next one. */
import {
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { CopyRequest } from '../../api/jobs/trees.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { copyTree } from './copy-tree.ts';

/** One file on both sides. Times in seconds, long ago, so that their tokens can be trusted. */
function createPair(source: readonly [string, number], destination: readonly [string, number]): Sandbox {
  const sandbox = createSandbox();
  for (const [path, [content, seconds]] of [
    ['from/file', source],
    ['to/file', destination],
  ] as const) {
    utimesSync(sandbox.write(path, content), seconds, seconds);
  }
  return sandbox;
}

function copy(sandbox: Sandbox, more: Partial<CopyRequest> = {}, environment = {}) {
  const context = testContext(sandbox.folder, {
    environment: { DRAY_CACHE: sandbox.path('cache'), ...environment },
  });
  const request = { source: { place: 'from' }, destination: { place: 'to' }, ...more };
  return copyTree(context, request).then((summary) => ({ context, summary }));
}

const contentOf = (sandbox: Sandbox) => readFileSync(sandbox.path('to/file'), 'utf8');
const secondsOf = (sandbox: Sandbox) => lstatSync(sandbox.path('to/file')).mtimeMs / 1000;

describe('A file on both sides', () => {
  it('with other content but the same size and time is found by --checksum, whatever an earlier run remembers', async () => {
    using sandbox = createPair(['good', 1000], ['evil', 1000]);
    for (const compare of ['sizeAndTime', 'sizeAndTime', 'sizeOnly'] as const)
      expect((await copy(sandbox, { compare })).summary).toMatchObject({ unchangedFiles: 1, copiedFiles: 0 });
    expect((await copy(sandbox, { compare: 'checksum' })).summary.copiedFiles).toBe(1);
    expect(contentOf(sandbox)).toBe('good');
  });

  it('with equal content gets only the time of the source', async () => {
    using sandbox = createPair(['same', 2000], ['same', 1000]);
    expect((await copy(sandbox)).summary).toMatchObject({ touchedFiles: 1, copiedFiles: 0 });
    expect(secondsOf(sandbox)).toBe(2000);
  });

  it('that is newer there keeps its time with --update, though its content is equal', async () => {
    using sandbox = createPair(['same', 1000], ['same', 2000]);
    expect((await copy(sandbox, { update: true })).summary).toMatchObject({
      skippedFiles: 1,
      touchedFiles: 0,
    });
    expect(secondsOf(sandbox)).toBe(2000);
  });

  it('with --immutable keeps its time, and counts as equal while its content is', async () => {
    using sandbox = createPair(['same', 2000], ['same', 1000]);
    expect((await copy(sandbox, { immutable: true })).summary).toMatchObject({
      unchangedFiles: 1,
      failed: 0,
    });
    expect(secondsOf(sandbox)).toBe(1000);
    writeFileSync(sandbox.path('from/file'), 'else');
    expect((await copy(sandbox, { immutable: true })).summary).toMatchObject({ copiedFiles: 0, failed: 1 });
    expect(contentOf(sandbox)).toBe('same');
  });

  it('is copied although nothing can be remembered of it', async () => {
    using sandbox = createPair(['newer', 2000], ['old', 1000]);
    mkdirSync(sandbox.path('blocked'));
    const blocked = { DRAY_CACHE: sandbox.write('blocked/file', '') };
    const { context, summary } = await copy(sandbox, {}, blocked);
    expect(summary).toMatchObject({ copiedFiles: 1, failed: 0 });
    expect(eventsOf(context, 'warning')).toMatchObject([{ warning: 'indexTemporary' }]);
  });
});

describe('A link at the path of a file to be copied', () => {
  it.each([
    ['immutable', { immutable: true }],
    ['backup', { backupDirectory: { place: 'old' } }],
  ])('is not replaced when the option protects the destination (%s), and is named', async (_option, more) => {
    using sandbox = createPair(['new', 2000], ['there', 1000]);
    rmSync(sandbox.path('to/file'));
    symlinkSync('elsewhere', sandbox.path('to/file'));
    for (const dryRun of [true, false]) {
      const { context, summary } = await copy(sandbox, { ...more, dryRun });
      expect(summary).toMatchObject({ copiedFiles: 0, failed: 1 });
      expect(eventsOf(context, 'fileFailed')).toMatchObject([{ path: 'file', error: { code: 'conflict' } }]);
    }
    expect(readlinkSync(sandbox.path('to/file'))).toBe('elsewhere');
    expect((await copy(sandbox)).summary).toMatchObject({ copiedFiles: 1, failed: 0 });
    expect(contentOf(sandbox)).toBe('new');
  });
});
