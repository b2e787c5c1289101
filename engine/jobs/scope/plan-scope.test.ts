/** What a change of scope would do, told before it is done. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cloneWorkspace } from '../pull/clone.ts';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { describeTree } from '../trees/same-trees.fixture.ts';
import { planScope } from './plan-scope.ts';
import { scope } from './scope.ts';

let sandbox: Sandbox;
let part: string;

beforeEach(async () => {
  sandbox = createSandbox();
  part = sandbox.path('part');
  const whole = sandbox.path('whole');
  for (const path of ['a/1', 'a/2', 'b/1', 'b/2', 'b/3', 'c/1']) sandbox.write(`whole/${path}`, `of ${path}`);
  await initWorkspace(testContext(whole), { remoteUrl: sandbox.path('store') });
  await push(testContext(whole), {});
  const url = sandbox.path('store');
  await cloneWorkspace(testContext(sandbox.folder), { url, directory: 'part', only: ['a'] });
});
afterEach(() => sandbox[Symbol.dispose]());

const plan = (...only: string[]) => planScope(testContext(part), { only });

describe('The plan of a change of scope', () => {
  it('is what the change then does', async () => {
    const before = describeTree(part);
    for (const only of [['a', 'b'], ['b'], ['c', 'b/1'], null, ['c']]) {
      const planned = await planScope(testContext(part), { only });
      const request = only ? ({ action: 'only', patterns: only } as const) : ({ action: 'clear' } as const);
      const { downloadedBytes, fetched, freedBytes, removed } = await scope(testContext(part), request);
      expect(planned, `${only}`).toMatchObject({ fetched, freedBytes, removed });
      // A pack is read over small gaps.
      expect(downloadedBytes).toBeGreaterThanOrEqual(planned.downloadedBytes);
    }
    await scope(testContext(part), { action: 'only', patterns: ['a'] });
    expect(describeTree(part)).toEqual(before);
  });

  it('changes nothing here', async () => {
    const before = describeTree(part);
    expect(await plan('b')).toMatchObject({ fetched: 3, removed: 2, unpushed: { count: 0 } });
    expect(describeTree(part)).toEqual(before);
    expect(await scope(testContext(part), { action: 'list' })).toMatchObject({ only: ['a'] });
  });

  it('names what is not pushed and would leave', async () => {
    writeFileSync(`${part}/a/1`, 'edited here');
    writeFileSync(`${part}/a/new`, 'new here');
    rmSync(`${part}/a/2`);
    const unpushed = { count: 2, paths: ['a/1', 'a/new'] };
    expect(await plan('b')).toMatchObject({ removed: 0, unpushed });
    expect(await plan('a', 'b')).toMatchObject({ unpushed: { count: 0 } });
  });

  it('names what is in the way, as the change then does', async () => {
    mkdirSync(`${part}/b`);
    writeFileSync(`${part}/b/1`, 'another file here');
    writeFileSync(`${part}/c`, 'where a folder is to be');
    const inTheWay = { count: 2, paths: ['b/1', 'c/1'] };
    expect(await plan('a', 'b', 'c')).toMatchObject({ inTheWay });
    const request = { action: 'only', patterns: ['a', 'b', 'c'] } as const;
    const refused: unknown = await scope(testContext(part), request).catch((error: unknown) => error);
    const paths = expect.arrayContaining(inTheWay.paths);
    expect(refused).toMatchObject({ code: 'conflict', data: { reason: 'inTheWay', paths } });
    rmSync(`${part}/b`, { recursive: true });
    rmSync(`${part}/c`);
    mkdirSync(`${part}/b/1/empty`, { recursive: true });
    expect(await plan('a', 'b', 'c')).toMatchObject({ inTheWay: { count: 0 } });
  });

  it('names patterns that name nothing, as the change and a clone do', async () => {
    expect(await plan('a', 'B', 'b/*.none', 'c/')).toMatchObject({
      unmatched: ['B', 'b/*.none'],
      fetched: 1,
    });
    const context = testContext(part);
    await scope(context, { action: 'add', patterns: ['B', 'b/1'] });
    expect(eventsOf(context, 'warning')).toMatchObject([{ warning: 'namesNothing', path: 'B' }]);
    const cloning = testContext(sandbox.folder);
    await cloneWorkspace(cloning, { url: sandbox.path('store'), directory: 'other', only: ['z', 'b'] });
    expect(eventsOf(cloning, 'warning')).toMatchObject([{ warning: 'namesNothing', path: 'z' }]);
  });

  it('needs no request to hold less', async () => {
    await scope(testContext(part), { action: 'only', patterns: ['a', 'b'] });
    expect(await plan('a')).toMatchObject({ removed: 3, requests: { total: 0 } });
  });

  it.each(['../x', 'a/../b', '.', '', '/', 'a//b'])('refuses the pattern "%s"', async (pattern) => {
    await expect(plan(pattern)).rejects.toMatchObject({ code: 'usage' });
  });
});
