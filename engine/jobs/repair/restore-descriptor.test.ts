import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { collectGarbage } from '../collect/collect.ts';
import { verify } from '../history/verify.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { forget } from '../retention/forget.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { describeTree } from '../trees/same-trees.fixture.ts';
import { repair } from './repair.ts';

let sandbox: Sandbox;
let root: string;
let remote: string;
beforeEach(() => {
  sandbox = createSandbox();
  root = sandbox.path('work');
  remote = sandbox.path('store');
  mkdirSync(root);
});
afterEach(() => sandbox[Symbol.dispose]());

const environment = { DRAY_AUTHOR: 'tester', DRAY_PASSWORD: 'a long enough password' };
const context = (at = root) => testContext(at, { environment });
const descriptor = () => `${remote}/dray.json`;
const textOf = () => readFileSync(descriptor(), 'utf8');
const changed = (edit: (text: string) => string) => () => {
  const text = textOf();
  const after = edit(text);
  expect(after).not.toBe(text);
  writeFileSync(descriptor(), after);
};

const HARMS: readonly (readonly [string, () => void])[] = [
  ['is missing', () => rmSync(descriptor())],
  ['is empty', () => writeFileSync(descriptor(), '')],
  ['was cut', changed((text) => text.slice(0, text.length / 2))],
  [
    'has a flipped bit in its id',
    changed((text) => text.replace(/("id": ")(.)/, (_, key, digit) => `${key}${digit === '1' ? '3' : '1'}`)),
  ],
  ['has a flipped bit in its layout', changed((text) => text.replace(/("packTarget": )\d/, '$19'))],
  ['has another name for a field', changed((text) => text.replace('"layout"', '"mayout"'))],
  [
    'is of another repository',
    changed((text) => text.replace(/"id": "[^"]+"/, '"id": "00000000-0000-4000-8000-000000000000"')),
  ],
  ['lost its features', changed((text) => text.replace('"collection"', '"zstd"'))],
];

describe.each([
  ['plain', false],
  ['encrypted', true],
] as const)('dray.json of a repository that is %s', (_, isEncrypted) => {
  beforeEach(async () => {
    await initWorkspace(context(), { remoteUrl: remote, ...(isEncrypted && { encrypt: true }) });
    sandbox.write('work/a', '1');
    await push(context(), {});
  });

  // A password takes a second to try.
  it.each(isEncrypted ? HARMS.slice(0, 2) : HARMS)(
    'is damage to verify and gc where it %s, and written again by repair',
    async (_name, harm) => {
      const before = JSON.parse(textOf());
      expect(await verify(context(), {})).toMatchObject({ damaged: 0 });
      harm();
      const harmed = () => readFileSync(`${remote}/dray.json`, { flag: 'a+' });
      const bytes = harmed();
      expect(await verify(context(), {})).toMatchObject({ damaged: 1, missing: 0 });
      sandbox.write('work/b', '2');
      await push(context(), {}).catch(() => {});
      expect(await repair(context(), { dryRun: true })).toMatchObject({ result: 'wouldRepair', found: 1 });
      expect(harmed()).toEqual(bytes);
      const repairing = context();
      expect(await repair(repairing, {})).toMatchObject({ result: 'repaired', found: 1, left: 0 });
      expect(eventsOf(repairing, 'warning')).toMatchObject([{ warning: 'descriptorRestored' }]);
      const { created: _created, since: _since, required, ...rest } = before;
      const after = JSON.parse(textOf());
      expect(after).toMatchObject(rest);
      expect(after.required).toEqual(expect.arrayContaining(required));
      expect(await verify(context(), {})).toMatchObject({ damaged: 0 });
      await cloneWorkspace(context(sandbox.folder), { url: remote, directory: 'copy' });
      expect(describeTree(sandbox.path('copy'))).toEqual(describeTree(root));
      await forget(context(), { policy: { keepLast: 1 } });
      await collectGarbage(context(), { graceSeconds: 0 });
    },
  );
});

describe('dray.json of a repository', () => {
  beforeEach(async () => {
    await initWorkspace(context(), { remoteUrl: remote });
    sandbox.write('work/a', '1');
    await push(context(), {});
  });

  it('cannot be written by a workspace that has never met the repository', async () => {
    const fresh = sandbox.path('fresh');
    mkdirSync(fresh);
    await initWorkspace(context(fresh), { remoteUrl: sandbox.path('elsewhere') });
    const config = JSON.parse(readFileSync(`${fresh}/.dray/config.json`, 'utf8'));
    config.remotes.origin = { url: remote };
    writeFileSync(`${fresh}/.dray/config.json`, JSON.stringify(config));
    rmSync(descriptor());
    await expect(repair(context(fresh), {})).rejects.toMatchObject({
      data: { reason: 'descriptorUnknown' },
    });
  });

  it('comes back together with all refs', async () => {
    rmSync(descriptor());
    rmSync(`${remote}/refs/heads/main`);
    sandbox.write('work/b', '2');
    await expect(push(context(), {})).rejects.toMatchObject({
      code: 'notARepository',
      data: { command: 'dray repair' },
    });
    expect(await repair(context(), {})).toMatchObject({ result: 'repaired', found: 2, left: 1 });
    await expect(push(context(), {})).rejects.toMatchObject({
      data: { command: 'dray repair --branch main' },
    });
    expect(await repair(context(), { branch: 'main' })).toMatchObject({ result: 'repaired', left: 0 });
    expect(await push(context(), {})).toMatchObject({ result: 'pushed' });
  });

  it('is not written to a place that has nothing of the repository', async () => {
    rmSync(remote, { recursive: true });
    mkdirSync(remote);
    for (const job of [verify, repair])
      await expect(job(context(), {})).rejects.toMatchObject({
        code: 'notARepository',
        data: { reason: 'nothingThere' },
      });
    expect(describeTree(remote)).toEqual([]);
  });
});
