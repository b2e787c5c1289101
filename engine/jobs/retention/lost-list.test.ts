/** What commands do when the list of forgotten commits was lost after a collection. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { zstdCompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { collectGarbage } from '../collect/collect.ts';
import { log } from '../history/log.ts';
import { tag } from '../history/refs.ts';
import { verify } from '../history/verify.ts';
import { push } from '../push/push.ts';
import { initIn } from '../remotes/init.fixture.ts';
import { keysBelow, tipOf } from '../session/damage.fixture.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { forget } from './forget.ts';

let sandbox: Sandbox;
let root: string;
let remote: string;
/** Its commit was forgotten. */
let one: string;

async function commit(name: string): Promise<string> {
  sandbox.write('work/file', name);
  await push(testContext(root), { message: name });
  return tipOf(remote);
}

beforeEach(async () => {
  sandbox = createSandbox();
  root = await initIn(sandbox);
  remote = sandbox.path('store');
  one = await commit('one');
  for (const name of ['two', 'three']) await commit(name);
  await forget(testContext(root), { policy: { keepLast: 1 } });
  await collectGarbage(testContext(root), { graceSeconds: 0 });
});
afterEach(() => sandbox[Symbol.dispose]());

const listPath = () => `${remote}/retention.json`;

function writeList(forgotten: readonly string[]): void {
  const { repository } = JSON.parse(readFileSync(`${remote}/collection.json`, 'utf8'));
  writeFileSync(listPath(), zstdCompressSync(JSON.stringify({ format: 1, repository, forgotten })));
}

describe('a list of forgotten commits', () => {
  it.each([
    ['is missing', () => rmSync(listPath())],
    ['is shorter', () => writeList([one])],
    ['is damaged', () => writeFileSync(listPath(), 'no list')],
  ])('that %s is reported, and nothing is written in its place', async (_, harm) => {
    harm();
    const before = keysBelow(remote, '');
    const refusal = {
      code: 'damaged',
      message: expect.stringContaining('retention.json'),
      data: { key: 'retention.json', command: 'dray repair' },
    };
    const context = testContext(root);
    await expect(log(context, {})).rejects.toMatchObject(refusal);
    await expect(forget(context, { policy: { keepLast: 1 } })).rejects.toMatchObject(refusal);
    await expect(collectGarbage(context, { graceSeconds: 0 })).rejects.toMatchObject(refusal);
    await expect(tag(context, { name: 'v1', ref: one })).rejects.toMatchObject(refusal);
    await verify(context, {});
    expect(eventsOf(context, 'check')).toContainEqual(
      expect.objectContaining({ result: 'failed', detail: expect.stringContaining('retention.json') }),
    );
    expect(keysBelow(remote, '')).toEqual(before);
  });

  it('may have grown since a collection counted it', async () => {
    await commit('four');
    await forget(testContext(root), { policy: { keepLast: 1 } });
    const context = testContext(root);
    expect(await log(context, {})).toMatchObject({ commits: 4 });
    expect(eventsOf(context, 'commit').filter(({ isForgotten }) => isForgotten)).toHaveLength(3);
  });
});
