import { readFileSync, symlinkSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../../session/job.fixture.ts';
import { copyTree } from '../copy-tree.ts';
import { checkTrees } from './check-trees.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox[Symbol.dispose]());

const context = () => testContext(sandbox.folder, { environment: { DRAY_CACHE: sandbox.path('cache') } });
const sides = { source: { place: 'left' }, destination: { place: 'right' } };

describe('a check of two folders', () => {
  it('reports the first byte in which two files of one size differ', async () => {
    const content = Buffer.alloc(3_000_000, 'a');
    sandbox.write('left/same', content);
    sandbox.write('right/same', content);
    sandbox.write('left/other', content);
    content[2_345_678] = 0;
    content[2_999_999] = 0;
    sandbox.write('right/other', content);
    const reported = context();
    expect(await checkTrees(reported, sides)).toMatchObject({ same: 1, differing: 1 });
    // Both are compared at once: either may be reported first.
    const compared = new Map(eventsOf(reported, 'compared').map((event) => [event.path, event]));
    expect(compared.get('other')).toMatchObject({ result: 'differs', by: 'content', differsAt: 2_345_678 });
    expect(compared.get('same')).toMatchObject({ result: 'same', by: 'content' });
    expect(compared.get('same')).not.toHaveProperty('differsAt');
    expect(compared.size).toBe(2);
  });
});

describe('symbolic links in a check', () => {
  it('are compared by their targets with --links, reported like files, and left out without', async () => {
    for (const side of ['left', 'right']) {
      sandbox.write(`${side}/file`, 'content');
      symlinkSync('file', sandbox.path(side, 'same'));
      symlinkSync('../elsewhere', sandbox.path(side, 'away'));
    }
    symlinkSync('one', sandbox.path('left/other'));
    symlinkSync('two', sandbox.path('right/other'));
    symlinkSync('file', sandbox.path('right/more'));
    const reported = context();
    const reportPath = sandbox.path('report.json');
    expect(await checkTrees(reported, { ...sides, links: true, reportPath })).toMatchObject({
      files: 4,
      same: 3,
      differing: 1,
      onlyInDestination: 1,
      failed: 0,
    });
    const compared = eventsOf(reported, 'compared').map(({ by, path, result }) => `${path} ${result} ${by}`);
    expect(compared.sort()).toEqual([
      'away.rclonelink same content',
      'file same content',
      'more.rclonelink onlyInDestination presence',
      'other.rclonelink differs content',
      'same.rclonelink same content',
    ]);
    const report = JSON.parse(readFileSync(reportPath, 'utf8')) as { files: { path: string }[] };
    expect(report.files.map(({ path }) => path)).toContain('other.rclonelink');
    const plain = context();
    expect(await checkTrees(plain, sides)).toMatchObject({ files: 1, same: 1, differing: 0 });
    expect(eventsOf(plain, 'warning')).not.toEqual([]);
  });
});

describe('a copy', () => {
  it('continues when one path of the destination cannot be read, and fails only that file', async () => {
    sandbox.write('left/circle/file', 'cannot go there');
    sandbox.write('left/plain', 'can');
    sandbox.path('right/x');
    symlinkSync('circle', sandbox.path('right/circle'));
    const reported = context();
    expect(await copyTree(reported, sides)).toMatchObject({ copiedFiles: 1, failed: 1 });
    expect(eventsOf(reported, 'fileFailed').map(({ path }) => path)).toEqual(['circle/file']);
  });
});
