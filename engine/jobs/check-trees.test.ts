import { symlinkSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkTrees } from './check-trees.ts';
import { copyTree } from './copy-tree.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from './job-fixture.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox[Symbol.dispose]());

const context = () => testContext(sandbox.folder, { environment: { DRAY_CACHE: sandbox.path('cache') } });
const sides = { source: { place: 'left' }, destination: { place: 'right' } };

describe('a check of two folders', () => {
  it('tells the first byte in which two files of one size differ', async () => {
    const content = Buffer.alloc(3_000_000, 'a');
    sandbox.write('left/same', content);
    sandbox.write('right/same', content);
    sandbox.write('left/other', content);
    content[2_345_678] = 0;
    content[2_999_999] = 0;
    sandbox.write('right/other', content);
    const told = context();
    expect(await checkTrees(told, sides)).toMatchObject({ same: 1, differing: 1 });
    // Both are compared at once: either may be told first.
    const compared = new Map(eventsOf(told, 'compared').map((event) => [event.path, event]));
    expect(compared.get('other')).toMatchObject({ result: 'differs', by: 'content', differsAt: 2_345_678 });
    expect(compared.get('same')).toMatchObject({ result: 'same', by: 'content' });
    expect(compared.get('same')).not.toHaveProperty('differsAt');
    expect(compared.size).toBe(2);
  });
});

describe('a copy', () => {
  it('goes on where one place at the destination cannot be looked at, and fails that file alone', async () => {
    sandbox.write('left/circle/file', 'cannot go there');
    sandbox.write('left/plain', 'can');
    sandbox.path('right/x');
    symlinkSync('circle', sandbox.path('right/circle'));
    const told = context();
    expect(await copyTree(told, sides)).toMatchObject({ copiedFiles: 1, failed: 1 });
    expect(eventsOf(told, 'fileFailed').map(({ path }) => path)).toEqual(['circle/file']);
  });
});
