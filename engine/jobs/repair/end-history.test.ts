import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { collectGarbage } from '../collect/collect.ts';
import { log } from '../history/log.ts';
import { verify } from '../history/verify.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { pull } from '../pull/pull.ts';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { forget } from '../retention/forget.ts';
import { commitKeyOf, keysBelow } from '../session/damage.fixture.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { repair } from './repair.ts';

const environment = { DRAY_PASSWORD: 'two herons' };

/** Four commits, of which the second one's object is lost, and a clone that never read it. */
async function begin(sandbox: Sandbox, encrypt: boolean) {
  const [root, remote] = [sandbox.path('work'), sandbox.path('store')];
  const at = (folder: string) => testContext(sandbox.path(folder), { environment });
  mkdirSync(root);
  await initWorkspace(at('work'), { remoteUrl: remote, ...(encrypt && { encrypt }) });
  const commits: string[] = [];
  let before = new Set(keysBelow(remote, 'commits'));
  let path = '';
  for (const text of ['1', '2', '3', '4']) {
    sandbox.write('work/a', text);
    commits.push((await push(at('work'), { message: text })).commit!);
    const keys = keysBelow(remote, 'commits').filter((key) => !before.has(key));
    if (text === '2') path = `${remote}/${keys[0]!}`;
    before = new Set(keysBelow(remote, 'commits'));
  }
  if (!encrypt) expect(path).toBe(`${remote}/${commitKeyOf(commits[1]!)}`);
  await cloneWorkspace(at(''), { url: remote, directory: 'copy' });
  const bytes = readFileSync(path);
  rmSync(path);
  const logged = async (folder: string) => {
    const context = at(folder);
    await log(context, {});
    const ends = eventsOf(context, 'warning').filter(({ warning }) => warning === 'historyEnds');
    return { messages: eventsOf(context, 'commit').map(({ message }) => message), ends: ends.length };
  };
  return { at, bytes, commits, logged, path, remote, lost: commits[1]! };
}

const policy = { keepLast: 1 };

describe.each([
  ['a plain repository', false],
  ['an encrypted repository', true],
])('the lost record of an old commit of %s', (_, encrypt) => {
  it('ends history by a decision, and everything works after it', async () => {
    using sandbox = createSandbox();
    const { at, lost, logged, remote } = await begin(sandbox, encrypt);
    const advice = expect.stringContaining(`dray repair --end-history ${lost.slice(0, 10)}`);
    await expect(collectGarbage(at('copy'), { graceSeconds: 0 })).rejects.toMatchObject({ data: { advice } });
    await expect(forget(at('copy'), { policy })).rejects.toMatchObject({ data: { advice } });
    const endHistory = lost.slice(0, 10);
    expect(await repair(at('copy'), { endHistory, dryRun: true })).toMatchObject({ result: 'wouldEnd' });
    await expect(logged('copy')).rejects.toThrow();
    expect(await repair(at('copy'), { endHistory })).toMatchObject({
      result: 'ended',
      commit: lost,
      left: 0,
      unnamed: 1,
    });
    expect(await logged('copy')).toEqual({ messages: ['4', '3'], ends: 1 });
    expect(await verify(at('copy'), {})).toMatchObject({ missing: 0, damaged: 0, commits: 2 });
    expect(await forget(at('copy'), { policy })).toMatchObject({ result: 'forgot', forgotten: 1, stay: 1 });
    await expect(repair(at('copy'), { endHistory: lost })).rejects.toThrow(/^History ends at \w{10} already/);
    expect(await collectGarbage(at('copy'), { graceSeconds: 0 })).toMatchObject({
      result: 'collected',
      commits: 1,
      forgottenCommits: 1,
    });
    expect(keysBelow(remote, 'commits')).toHaveLength(2);
    sandbox.write('copy/b', 'new');
    expect(await push(at('copy'), { message: '5' })).toMatchObject({ result: 'pushed' });
    await cloneWorkspace(at(''), { url: remote, directory: 'another' });
    expect(readFileSync(sandbox.path('another/a'), 'utf8')).toBe('4');
    // The one that still has the record in its index.
    await pull(at('work'), {});
    expect((await logged('work')).messages.slice(0, 3)).toEqual(['5', '4', '3']);
    expect(await verify(at('work'), { readDataPercent: 100 })).toMatchObject({ missing: 0, damaged: 0 });
    await collectGarbage(at('work'), { graceSeconds: 0 });
  });
});

describe('the end of history', () => {
  it('is no way out while a workspace still has the record: it is put back', async () => {
    using sandbox = createSandbox();
    const { at, bytes, logged, lost, path } = await begin(sandbox, false);
    writeFileSync(path, bytes);
    await logged('work');
    rmSync(path);
    expect(await repair(at('work'), { endHistory: lost })).toMatchObject({ result: 'repaired', left: 0 });
    expect(readFileSync(path)).toEqual(bytes);
    expect(await verify(at('copy'), {})).toMatchObject({ missing: 0, damaged: 0, commits: 4 });
  });

  it('is taken back when the record is there again, before anything was removed', async () => {
    using sandbox = createSandbox();
    const { at, bytes, logged, lost, path, remote } = await begin(sandbox, false);
    await repair(at('copy'), { endHistory: lost });
    writeFileSync(path, bytes);
    expect(await logged('copy')).toEqual({ messages: ['4', '3', '2', '1'], ends: 0 });
    const context = at('copy');
    await repair(context, {});
    expect(eventsOf(context, 'warning').map(({ warning }) => warning)).toContain('historyContinues');
    await collectGarbage(at('copy'), { graceSeconds: 0 });
    expect(keysBelow(remote, 'commits')).toHaveLength(4);
    // The decision was about the loss of then.
    rmSync(path);
    await cloneWorkspace(at(''), { url: remote, directory: 'another' });
    await expect(logged('another')).rejects.toMatchObject({ code: 'damaged' });
  });

  it('is refused for a commit that can be read, and for one that a branch names', async () => {
    using sandbox = createSandbox();
    const { at, commits, remote } = await begin(sandbox, false);
    await expect(repair(at('copy'), { endHistory: commits[2]! })).rejects.toMatchObject({ code: 'notFound' });
    rmSync(`${remote}/${commitKeyOf(commits[3]!)}`);
    await expect(repair(at('copy'), { endHistory: commits[3]! })).rejects.toMatchObject({
      code: 'conflict',
      data: { reason: 'isTip' },
    });
  });
});
