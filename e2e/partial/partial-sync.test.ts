/**
 * Random parts of a dataset, edited and then synced to random places, from the workspace's folder or one in
 * it, on this machine or by a peer. After each sync a dictionary says what the destination has: within the
 * part what the source has, and outside of it what it had before, and what lies here besides.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { cloneWorkspace } from '../../engine/jobs/pull/clone.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { scope } from '../../engine/jobs/scope/scope.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { syncTree } from '../../engine/jobs/trees/copy-tree.ts';
import { compileScope } from '../../engine/model/scope.ts';
import { serveForTest, TEST_TOKEN } from '../../engine/peer/peer.fixture.ts';
import type { PeerServer } from '../../engine/peer/serve-folder.ts';
import { type Draw, drawFrom } from '../seeded-draw.ts';
import { readTree, removeAt, sorted, writeAt } from './partial-files.ts';

const ROUNDS = runBudget({ short: 40, long: 1_000 });
const FOLDERS = ['', 'a/', 'b/', 'b/sub/', 'x/deep/er/', 'y/'];
const PATHS = FOLDERS.flatMap((folder) => ['1.csv', '2.bin', '3'].map((name) => folder + name));
const PATTERNS = ['a', 'b/', 'b/sub', 'x', '*.csv', 'y/*.bin', '/3', 'x/*', '?.bin', '*.none'];

let sandbox: Sandbox;
let peer: PeerServer;
beforeAll(async () => {
  sandbox = createSandbox();
  for (const path of PATHS) sandbox.write(`served/whole/${path}`, `of ${path}`);
  const whole = testContext(sandbox.path('served/whole'));
  await initWorkspace(whole, { remoteUrl: sandbox.path('store') });
  await push(whole, {});
  await cloneWorkspace(testContext(sandbox.path('served')), {
    url: sandbox.path('store'),
    directory: 'part',
    only: ['a'],
  });
  peer = await serveForTest(sandbox.path('served'));
});
afterAll(async () => {
  await peer?.close();
  sandbox?.[Symbol.dispose]();
});

const contextHere = () => testContext(sandbox.folder, { environment: { DRAY_TOKEN: TEST_TOKEN } });

/** Deletes, edits and adds, also outside of the part. */
function edit(draw: Draw, root: string, isLikely: (path: string) => boolean): void {
  const here = readTree(root);
  for (const path of PATHS) {
    if (!draw.chance(isLikely(path) ? 40 : 5)) continue;
    if (here.has(path) && draw.chance(50)) removeAt(root, path, { withFolders: true });
    else writeAt(root, path, `edit ${draw.below(1_000)}`);
  }
}

function withoutPrefix(files: ReadonlyMap<string, string>, prefix: string): Map<string, string> {
  const below = [...files].filter(([path]) => path.startsWith(prefix));
  return new Map(below.map(([path, content]) => [path.slice(prefix.length), content]));
}

it('A sync from a part deletes within the part alone', async () => {
  const draw = drawFrom(2_477);
  const part = sandbox.path('served/part');
  const destination = sandbox.path('destination');
  const met = { kept: 0, deleted: 0, copied: 0 };
  for (let round = 0; round < ROUNDS; round += 1) {
    rmSync(destination, { recursive: true, force: true });
    for (const [path] of readTree(part)) removeAt(part, path, { withFolders: true });
    const only = Array.from({ length: 1 + draw.below(3) }, () => draw.of(PATTERNS));
    // A part of which nothing is in the commit is refused.
    if (!only.some((pattern) => pattern !== '*.none')) only.push('a');
    await scope(testContext(part), { action: 'only', patterns: only });
    const { holds } = compileScope(only);
    for (const path of PATHS) if (holds(path)) writeAt(part, path, `of ${path}`);
    edit(draw, part, holds);
    for (const path of PATHS) if (draw.chance(80)) writeAt(destination, path, `of ${path}`);
    edit(draw, destination, () => false);
    const folder = draw.of(['', '', 'a/', 'b/', 'x/deep/']);
    const [source, before] = [withoutPrefix(readTree(part), folder), readTree(destination)];
    writeAt(part, `${folder}here`, 'so that the folder is there');
    source.set('here', 'so that the folder is there');
    const expected = new Map(source);
    for (const [path, content] of before) {
      if (source.has(path)) met.copied += 1;
      else if (holds(folder + path)) met.deleted += 1;
      else {
        met.kept += 1;
        expected.set(path, content);
      }
    }
    const place = draw.chance(50)
      ? join(part, folder)
      : `dray://127.0.0.1:${peer.address.port}/part/${folder}?tls=off`;
    const context = contextHere();
    // Both sides are written within one tick of the clock.
    const request = { compare: 'checksum', maxDelete: { percent: 100 } } as const;
    const places = { source: { place }, destination: { place: destination } };
    const summary = await syncTree(context, {
      ...places,
      ...request,
      ...(draw.chance(30) ? { links: true } : {}),
    });
    const what = `round ${round}: ${only.join(' ')} from ${place}`;
    expect(sorted(readTree(destination)), what).toEqual(sorted(expected));
    expect(summary, what).toMatchObject({ failed: 0 });
    const isKept = [...before.keys()].some((path) => !source.has(path) && expected.has(path));
    const warnings = eventsOf(context, 'warning').map(({ warning }) => warning);
    expect(warnings.includes('outsidePart'), what).toBe(isKept);
  }
  expect(Object.values(met).every((count) => count > ROUNDS)).toBe(true);
});
