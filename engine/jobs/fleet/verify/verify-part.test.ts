/** A repository verified in parts, against a small server. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runFleet } from '../../../../e2e/fleet/run-fleet.ts';
import { contextIn, freshStorePerTest, sandbox, store } from '../../../../e2e/fresh-store.ts';
import { type FleetRequest, NO_FLEET_COUNTS } from '../../../api/jobs/fleet.ts';
import { findCutPath } from '../../../repository/manifest/cut-path.fixture.ts';
import { verify } from '../../history/verify.ts';
import { push } from '../../push/push.ts';
import { initWorkspace } from '../../remotes/init.ts';
import { forget } from '../../retention/forget.ts';
import { fleetSteps } from '../fleet-steps.ts';

freshStorePerTest();

/** The files of two commits. Those of the second are in three segments, of which one is new. */
const FILES = 2_200;
const REPOSITORY = { place: 's3://fake-bucket/repo' };
const request: FleetRequest = {
  kind: 'verify',
  source: REPOSITORY,
  destination: REPOSITORY,
  partFilesMax: 1_000,
  rangesWanted: 2,
};

async function makeWorkspace(): Promise<string> {
  const root = sandbox.path('work');
  mkdirSync(root);
  const layout = { packBelow: 64, chunkAbove: 1_000 };
  await initWorkspace(contextIn(root), { remoteUrl: REPOSITORY.place, layout });
  return root;
}

let stored: { readonly objects: ReadonlyMap<string, Buffer>; readonly config: string } | undefined;

/** Returns a workspace of the repository. The files are written and pushed once, for all tests. */
async function openRepository(): Promise<string> {
  const root = await makeWorkspace();
  const config = `${root}/.dray/config.json`;
  if (stored) {
    // Another repository was made there just now.
    store.objects.clear();
    for (const [key, bytes] of stored.objects) store.objects.set(key, Buffer.from(bytes));
    writeFileSync(config, stored.config);
    return root;
  }
  for (let at = 0; at < FILES; at += 1)
    sandbox.write(`work/${Math.floor(at / 1_050)}/${at}`, `content of ${at}`);
  for (const folder of ['0', '1'])
    sandbox.write(`work/${findCutPath(`${folder}~`)}`, `the last of ${folder}`);
  sandbox.write('work/object', Buffer.alloc(100, 'o'));
  await push(contextIn(root), {});
  sandbox.write('work/object', Buffer.alloc(100, 'p'));
  await push(contextIn(root), {});
  const objects = new Map([...store.objects].map(([key, bytes]) => [key, Buffer.from(bytes)]));
  stored = { objects, config: readFileSync(config, 'utf8') };
  return root;
}
const keysBelow = (prefix: string) =>
  [...store.objects.keys()].filter((key) => key.startsWith(`repo/${prefix}`));
const textOf = (key: string) => Buffer.from(store.objects.get(key)!).toString();
const findingsOf = (id: string) =>
  keysBelow(`.dray-fleet/${id}/failures/`)
    .flatMap((key) => textOf(key).trim().split('\n'))
    .map((line) => JSON.parse(line));
const parentCommit = () => {
  const { commit } = JSON.parse(textOf('repo/refs/heads/main'));
  return keysBelow('commits/').find((key) => !key.endsWith(commit.slice(2)))!;
};

describe('A verification in parts', () => {
  it('checks each segment once, reads all data, and agrees with one verification', async () => {
    const root = await openRepository();
    const alone = await verify(contextIn(root), { readDataPercent: 100 });
    const { counts, parts, ranges } = await runFleet({
      context: contextIn(),
      id: 'all',
      request: { ...request, readDataPercent: 100 },
    });
    expect([ranges, parts.length]).toEqual([2, 3]);
    expect(counts).toMatchObject({ commits: 2, missing: 0, damaged: 0, affectedPaths: 0, failed: 0 });
    expect(alone.files).toBe(2 * (FILES + 3));
    expect(counts.files).toBeGreaterThan(FILES + 3);
    expect(counts.files).toBeLessThan(alone.files);
    // Both parts check a pack at their border.
    expect(counts.objects).toBeGreaterThanOrEqual(alone.objects);
    expect(counts.objects).toBeLessThan(alone.objects + parts.length);
    expect(counts.receivedBytes).toBeGreaterThanOrEqual(alone.readBytes);
    expect(keysBelow('.dray-fleet/all/').map((key) => key.split('/').at(-1))).toEqual([
      'job.json',
      'report.json',
    ]);
  });

  it('names what is missing and damaged, and the paths, as one verification does', async () => {
    const root = await openRepository();
    const segment = keysBelow('manifests/')[0]!;
    const [pack] = keysBelow('packs/');
    for (const key of [...keysBelow('objects/'), parentCommit()]) store.objects.delete(key);
    const flipped = Buffer.from(store.objects.get(pack!)!);
    flipped[0]! ^= 1;
    store.objects.set(pack!, flipped);
    store.objects.set(segment, Buffer.from('not a segment'));
    const alone = await verify(contextIn(root), { readDataPercent: 100 });
    const { counts } = await runFleet({
      context: contextIn(),
      id: 'bad',
      request: { ...request, readDataPercent: 100 },
    });
    expect(counts).toMatchObject({ commits: 1, failed: 0 });
    expect(counts.missing).toBeGreaterThanOrEqual(alone.missing);
    expect(counts.damaged).toBeGreaterThanOrEqual(alone.damaged);
    expect(counts.affectedPaths).toBeGreaterThanOrEqual(alone.affectedPaths);
    const findings = findingsOf('bad');
    expect(findings.length).toBe(counts.missing + counts.damaged);
    const events = contextIn(root);
    await verify(events, { readDataPercent: 100 });
    const checks = events.events.flatMap((event) => (event.type === 'check' ? [event] : []));
    for (const { detail, paths = [] } of checks) {
      const same = findings.filter((finding) => finding.detail === detail);
      expect(same, detail).not.toEqual([]);
      expect(same.flatMap((finding) => finding.paths).sort()).toEqual([...paths].sort());
    }
  });

  it('leaves out the content of forgotten commits, as one verification does', async () => {
    const root = await makeWorkspace();
    for (const content of ['o', 'p', 'q']) {
      sandbox.write('work/object', Buffer.alloc(100, content));
      await push(contextIn(root), {});
    }
    const [first, second] = ['o', 'p'].map((content) =>
      createHash('sha256').update(Buffer.alloc(100, content)).digest('hex'),
    );
    await forget(contextIn(root), { policy: { keepLast: 1 } });
    for (const key of keysBelow('objects/'))
      if ([first, second].includes(key.split('/').slice(-2).join(''))) store.objects.delete(key);
    expect(keysBelow('objects/').length).toBe(1);
    expect(await verify(contextIn(root), {})).toMatchObject({ commits: 1, forgotten: 2, missing: 0 });
    const { counts } = await runFleet({ context: contextIn(), id: 'forgotten', request });
    expect(counts).toMatchObject({ commits: 1, missing: 0, damaged: 0, failed: 0 });
  });

  it('of one ref checks no other commit, and a repeated step counts the same', async () => {
    await openRepository();
    const { counts } = await runFleet({
      context: contextIn(),
      id: 'main',
      request: { ...request, ref: 'main' },
      around: async (name, step) => {
        const once = await step(contextIn());
        const again = await step(contextIn());
        if (name !== 'finish') expect(again).toEqual(once);
        return again;
      },
    });
    expect(counts).toMatchObject({ commits: 1, files: FILES + 3, missing: 0, damaged: 0 });
  });

  it('checks the commits that its plan has pinned, even when the branch moves', async () => {
    await openRepository();
    const work = await fleetSteps.begin(contextIn(), 'pinned', request);
    const plan = await fleetSteps.planRanges(contextIn(), work);
    store.objects.delete('repo/.dray-fleet/pinned/verify.json');
    const ref = JSON.parse(textOf('repo/refs/heads/main'));
    const commit = parentCommit().split('/').slice(-2).join('');
    store.objects.set('repo/refs/heads/main', Buffer.from(JSON.stringify({ ...ref, commit })));
    expect(await fleetSteps.planRanges(contextIn(), work)).toEqual(plan);
    // Its documents are no part of the repository.
    const checked = await verify(contextIn(sandbox.path('work')), {});
    expect(checked).toMatchObject({ missing: 0, damaged: 0, commits: 1 });
  });

  it('that was stopped checks the commits of its next start', async () => {
    await openRepository();
    const ref = 'repo/refs/heads/main';
    const tip = textOf(ref);
    const commit = parentCommit().split('/').slice(-2).join('');
    store.objects.set(ref, Buffer.from(JSON.stringify({ ...JSON.parse(tip), commit })));
    const work = await fleetSteps.begin(contextIn(), 'again', request);
    const { ranges } = await fleetSteps.planRanges(contextIn(), work);
    const end = { counts: NO_FLEET_COUNTS, result: 'stopped', startedMs: 0, ranges, parts: 0 } as const;
    await fleetSteps.finish(contextIn(), work, end);
    store.objects.set(ref, Buffer.from(tip));
    const { counts } = await runFleet({ context: contextIn(), id: 'again', request });
    expect(counts).toMatchObject({ commits: 2, missing: 0, damaged: 0 });
  });

  it('refuses a place without a repository, and writes nothing there', async () => {
    const begun = fleetSteps.begin(contextIn(), 'none', request);
    await expect(begun).rejects.toMatchObject({ code: 'notARepository' });
    expect(keysBelow('')).toEqual([]);
  });
});
