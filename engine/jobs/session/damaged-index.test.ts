/** Changed bytes of `.dray/index.db`, which is a cache: each command goes on from the store. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openIndex } from '../../index/open-index.ts';
import { findCutPath } from '../../repository/manifest/cut-path.fixture.ts';
import { SEGMENT_MIN_ENTRIES } from '../../repository/manifest/segment-cutter.ts';
import { requireWorkspace } from '../../workspace/workspace-folder.ts';
import { collectGarbage } from '../collect/collect.ts';
import { readCommitted } from '../history/read-committed.ts';
import { verify } from '../history/verify.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { pull } from '../pull/pull.ts';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { repair } from '../repair/repair.ts';
import { forget } from '../retention/forget.ts';
import { commitKeyOf, keysBelow, onlyKey, tipOf } from './damage.fixture.ts';
import { createSandbox, type Sandbox, testContext } from './job.fixture.ts';

let sandbox: Sandbox;
let root: string;
let remote: string;
beforeEach(async () => {
  sandbox = createSandbox();
  root = sandbox.path('work');
  remote = sandbox.path('store');
  mkdirSync(root);
  await initWorkspace(testContext(root), { remoteUrl: remote });
});
afterEach(() => sandbox[Symbol.dispose]());

/** Changes the last of these bytes wherever the file has them. */
function spoilIndex(bytes: Uint8Array): void {
  const path = join(root, '.dray/index.db');
  const file = readFileSync(path);
  let found = 0;
  for (let at = file.indexOf(bytes); at >= 0; at = file.indexOf(bytes, at + 1)) {
    const last = at + bytes.length - 1;
    file[last] = file[last]! ^ 1;
    found += 1;
  }
  expect(found).toBeGreaterThan(0);
  writeFileSync(path, file);
}

async function committed(path: string): Promise<string> {
  const parts: Uint8Array[] = [];
  await readCommitted(testContext(root), { from: 'main', path }, async (part) => {
    parts.push(Buffer.from(part));
  });
  return Buffer.concat(parts).toString();
}

const storedTip = () => readFileSync(join(remote, commitKeyOf(tipOf(remote))));

it('a damaged commit in the cache is dropped, and push and pull read it from the store', async () => {
  sandbox.write('work/a', 'one');
  await push(testContext(root), {});
  await cloneWorkspace(testContext(sandbox.folder), { url: remote, directory: 'other' });
  spoilIndex(storedTip());
  sandbox.write('work/a', 'two');
  expect(await push(testContext(root), {})).toMatchObject({ result: 'pushed' });
  spoilIndex(storedTip());
  sandbox.write('other/b', 'three');
  await pull(testContext(sandbox.path('other')), {});
  await push(testContext(sandbox.path('other')), {});
  expect(await pull(testContext(root), {})).toMatchObject({ result: 'pulled' });
  expect(readFileSync(join(root, 'b'), 'utf8')).toBe('three');
});

it('a repair stores no damaged commit of the cache', async () => {
  sandbox.write('work/a', 'one');
  await push(testContext(root), {});
  const key = commitKeyOf(tipOf(remote));
  spoilIndex(storedTip());
  rmSync(join(remote, key));
  expect(await repair(testContext(root), {})).toMatchObject({ result: 'notRepaired' });
  expect(keysBelow(remote, 'commits')).not.toContain(key);
});

it('a damaged list of condemned keys is read from the store again', async () => {
  sandbox.write('work/a', 'old'.repeat(500_000));
  await push(testContext(root), {});
  sandbox.write('work/a', 'new'.repeat(500_000));
  await push(testContext(root), {});
  await forget(testContext(root), { policy: { keepLast: 1 } });
  const [old] = keysBelow(remote, 'objects').filter((key) => !key.endsWith(objectOf('a')));
  await collectGarbage(testContext(root), { graceSeconds: 0 });
  const condemned = keysBelow(remote, 'objects');
  expect(condemned).not.toContain(old);
  sandbox.write('work/b', 'b');
  await push(testContext(root), {});
  const index = openIndex(requireWorkspace(root, () => false).indexPath).index;
  const [list] = index.repositories.avoidLists(1).values();
  index.close();
  spoilIndex(Buffer.from(list!));
  // The content of the condemned key comes back.
  sandbox.write('work/c', 'old'.repeat(500_000));
  await push(testContext(root), {});
  expect(keysBelow(remote, 'objects')).not.toContain(old);
  expect(keysBelow(remote, 'objects')).toContainEqual(expect.stringMatching(new RegExp(`^${old}\\.\\d+$`)));
});

function objectOf(path: string): string {
  const { index } = openIndex(requireWorkspace(root, () => false).indexPath);
  const { hash } = index.files.find(path, 1)!.after!;
  index.close();
  return hash!.slice(2);
}

it('a damaged record of an unconfirmed push is dropped', async () => {
  sandbox.write('work/a', 'one');
  await push(testContext(root), {});
  const { index } = openIndex(requireWorkspace(root, () => false).indexPath);
  index.settings.unconfirmedPush = '{"repository":"x';
  index.close();
  sandbox.write('work/a', 'two');
  expect(await push(testContext(root), {})).toMatchObject({ result: 'pushed' });
});

it('a new commit takes nothing over from a damaged row of the index', async () => {
  const paths = Array.from({ length: SEGMENT_MIN_ENTRIES }, (_, at) => `a/${at}`);
  // The cut after them makes two segments.
  for (const path of [...paths, findCutPath('b'), 'c']) sandbox.write(`work/${path}`, `content of ${path}`);
  await push(testContext(root), {});
  expect(keysBelow(remote, 'manifests').length).toBeGreaterThan(1);
  const { index } = openIndex(requireWorkspace(root, () => false).indexPath);
  const { hash } = index.files.find('a/500', 1)!.after!;
  index.close();
  spoilIndex(Buffer.from(hash!));
  sandbox.write('work/a/5000', 'a neighbour');
  await push(testContext(root), {});
  expect(await committed('a/500')).toBe('content of a/500');
  expect(await verify(testContext(root), { readDataPercent: 100 })).toMatchObject({ damaged: 0, missing: 0 });
  expect(onlyKey(remote, 'refs')).toBe('refs/heads/main');
});
