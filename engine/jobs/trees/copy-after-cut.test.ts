/**
 * Plain copies after a power cut: files that were just written have their size and time, but zeros as
 * content.
 */
import { lstatSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { markUnsynced } from '../../files/disk/unsynced-mark.ts';
import { createSandbox, type Sandbox, testContext } from '../session/job.fixture.ts';
import { copyTree } from './copy-tree.ts';
import { openKnowledge } from './pair-memory.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
  for (const name of ['a', 'b']) {
    const path = sandbox.write(`from/${name}`, `content of ${name}`);
    utimesSync(path, 1_700_000_000, 1_700_000_000);
  }
});
afterEach(() => sandbox[Symbol.dispose]());

const context = () => testContext(sandbox.folder, { environment: { DRAY_CACHE: sandbox.path('cache') } });
const copy = (from = 'from') =>
  copyTree(context(), { source: { place: sandbox.path(from) }, destination: { place: sandbox.path('to') } });

/** Leaves what an interrupted copy leaves. */
function cutOff(name: string, note: string): void {
  mkdirSync(sandbox.path('to/.dray-tmp'), { recursive: true });
  markUnsynced(sandbox.path('to/.dray-tmp'), note)(false);
  const { mtime, size } = lstatSync(sandbox.path(`from/${name}`));
  writeFileSync(sandbox.path(`to/${name}`), '\0'.repeat(size));
  utimesSync(sandbox.path(`to/${name}`), mtime, mtime);
}

describe('A copy after an interrupted run', () => {
  it('copies zeros of the right size and time again, and intact files not', async () => {
    await copy();
    cutOff('a', 'another command');
    expect(await copy()).toMatchObject({ copiedFiles: 1, unchangedFiles: 1 });
    expect(readFileSync(sandbox.path('to/a'), 'utf8')).toBe('content of a');
    expect(await copy()).toMatchObject({ result: 'upToDate', unchangedFiles: 2 });
  });

  it('keeps the mark of another command, whose files it has not compared', async () => {
    await copy();
    cutOff('a', 'another command');
    await copy();
    expect(readdirSync(sandbox.path('to/.dray-tmp'))).toHaveLength(1);
  });

  it('leaves nothing in the folder when it succeeds', async () => {
    expect(await copy()).toMatchObject({ copiedFiles: 2 });
    expect(readdirSync(sandbox.path('to'))).toEqual(['a', 'b']);
  });
});

describe('The memory of a pair of places', () => {
  const options = { pair: ['/from', '/to'] as const, noIndex: false, nowMs: Date.now() };
  const tokens = { sourceToken: '1', destinationToken: '2' };

  it('is saved after the files are synced, with one sync', async () => {
    let syncs = 0;
    const first = openKnowledge(context(), options);
    first.keepSynced(
      async () => {
        syncs += 1;
      },
      () => {},
    );
    for (let at = 0; at < 1_000; at += 1) first.note(`f${at}`, tokens, 'content', 1);
    expect(syncs).toBe(0);
    await first.settle();
    expect(syncs).toBe(1);
    first.close();
    const second = openKnowledge(context(), options);
    expect(second.recall('f999', tokens)).toBe('equal');
    second.close();
  });

  it('is dropped when the sync fails, and when the run ends without one', async () => {
    const first = openKnowledge(context(), options);
    first.keepSynced(
      async () => {
        throw new Error('the disk is broken');
      },
      () => {},
    );
    first.note('a', tokens, 'content', 1);
    await expect(first.settle()).rejects.toThrow('broken');
    first.note('b', tokens, 'content');
    first.close();
    const second = openKnowledge(context(), options);
    expect([second.recall('a', tokens), second.recall('b', tokens)]).toEqual(['unknown', 'unknown']);
    second.close();
  });
});
