import { mkdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FilterRule } from '../../api/jobs/trees.ts';
import {
  createSandbox,
  eventsOf,
  type Sandbox,
  type TestContext,
  testContext,
} from '../session/job.fixture.ts';
import { checkTrees } from './check/check-trees.ts';
import { copyTree, syncTree } from './copy-tree.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
  for (const path of ['a.csv', 'img/b.png', 'img/raw/c.raw']) sandbox.write(`from/${path}`, path);
  mkdirSync(sandbox.path('to'));
});
afterEach(() => sandbox[Symbol.dispose]());

const JOBS = { copy: copyTree, sync: syncTree, check: checkTrees };
const included = (...patterns: readonly string[]): readonly FilterRule[] => [
  ...patterns.map((pattern) => ({ action: 'include' as const, pattern })),
  { action: 'exclude', pattern: '**' },
];
const warnings = (context: TestContext) =>
  eventsOf(context, 'warning').map(({ message, path, warning }) => ({ message, path, warning }));

describe.each(Object.entries(JOBS))('A %s', (_, job) => {
  async function ran(rules: readonly FilterRule[], filter = {}): Promise<TestContext> {
    const context = testContext(sandbox.folder);
    const source = { place: sandbox.path('from') };
    await job(context, { source, destination: { place: sandbox.path('to') }, filter: { rules, ...filter } });
    return context;
  }

  it('names patterns to include that match nothing', async () => {
    expect(warnings(await ran(included('a.csv', 'imgg/**', '*.jpg')))).toEqual([
      {
        warning: 'namesNothing',
        path: 'imgg/**',
        message: expect.stringMatching(/^"imgg\/\*\*", "\*\.jpg" include nothing of .*from\. /),
      },
    ]);
    expect(warnings(await ran(included('nosuch')))).toMatchObject([{ path: 'nosuch' }]);
  });

  it('says nothing of patterns that match what another rule or a bound decides', async () => {
    expect(warnings(await ran(included('*.csv', '*.csv', 'img/**', '*.png')))).toEqual([]);
    expect(warnings(await ran(included('*.csv'), { minSizeBytes: 1_000 }))).toEqual([]);
    expect(warnings(await ran([{ action: 'exclude', pattern: 'nosuch' }]))).toEqual([]);
  });
});
