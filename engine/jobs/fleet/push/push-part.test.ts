/** A bucket pushed in parts, against a small server, and cloned. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type FleetRun, type FleetRunOptions, runFleet } from '../../../../e2e/fleet/run-fleet.ts';
import { contextIn, freshStorePerTest, sandbox, store } from '../../../../e2e/fresh-store.ts';
import type { FleetRequest, PublishResult } from '../../../api/jobs/fleet.ts';
import type { InitRequest } from '../../../api/jobs/jobs.ts';
import { log } from '../../history/log.ts';
import { verify } from '../../history/verify.ts';
import { cloneWorkspace } from '../../pull/clone.ts';
import { push } from '../../push/push.ts';
import { initWorkspace } from '../../remotes/init.ts';
import { fleetSteps } from '../fleet-steps.ts';

freshStorePerTest();

const REPOSITORY = 's3://fake-bucket/repo';
const request: FleetRequest = {
  kind: 'push',
  source: { place: 's3://fake-bucket/raw/' },
  destination: { place: REPOSITORY },
  partFilesMax: 40,
  rangesWanted: 2,
};
const layout = {
  ...{ packBelow: 100, packTarget: 1_000, chunkAbove: 2_000 },
  chunkSize: { min: 512, average: 1_024, max: 4_096 },
};

let jobs = 0;
async function pushFleet(
  more: Partial<FleetRequest> = {},
  around?: FleetRunOptions['around'],
): Promise<FleetRun & { readonly published: PublishResult }> {
  jobs += 1;
  const run = await runFleet({
    context: contextIn(),
    id: `job-${jobs}`,
    request: { ...request, ...more },
    ...(around && { around }),
  });
  return { ...run, published: run.report.published! };
}
function put(name: string, content: string | Buffer): void {
  store.objects.set(`raw/${name}`, Buffer.from(content));
}
/** Small, middle and large objects: packs, objects and chunks of `layout`. */
function fill(files: number): void {
  for (let at = 0; at < files; at += 1) put(`${at % 3}/${at}`, `content of ${at}`);
  put('1/object', 'o'.repeat(500));
  put('2/chunks', Buffer.from(Array.from({ length: 9_000 }, (_, at) => (at * at) >> 5)));
  put('empty', '');
}
async function makeRepository(more: Partial<InitRequest> = {}): Promise<string> {
  const root = sandbox.path('work');
  mkdirSync(root);
  await initWorkspace(contextIn(root), { remoteUrl: REPOSITORY, layout, ...more });
  return root;
}
/** A collection that has removed nothing, as its state and the ref say: this server knows no conditions. */
function writeFirstRound(): void {
  const ref = JSON.parse(Buffer.from(store.objects.get('repo/refs/heads/main')!).toString());
  const { repository } = ref;
  const state = {
    ...{ format: 1, required: ['collection'], repository, round: 1, run: randomUUID(), phase: 'done' },
    ...{ started: new Date().toISOString(), grace: 0, forgotten: 0, candidates: [], rescued: [], avoid: [] },
    removed: { objects: 0, bytes: 0 },
  };
  store.objects.set('repo/collection.json', Buffer.from(JSON.stringify(state)));
  store.objects.set('repo/refs/heads/main', Buffer.from(JSON.stringify({ ...ref, epoch: 1 })));
}
let clones = 0;
/** Clones the branch; returns its folder. */
async function clone(): Promise<string> {
  clones += 1;
  const directory = `copy-${clones}`;
  await cloneWorkspace(contextIn(), { url: REPOSITORY, directory });
  const root = sandbox.path(directory);
  expect(await verify(contextIn(root), { readDataPercent: 100 })).toMatchObject({ missing: 0, damaged: 0 });
  return root;
}
function sourceFiles(): ReadonlyMap<string, string> {
  const files = [...store.objects].filter(([key]) => key.startsWith('raw/'));
  return new Map(
    files.map(([key, bytes]) => [key.slice('raw/'.length), Buffer.from(bytes).toString('latin1')]),
  );
}
function clonedFiles(root: string): ReadonlyMap<string, string> {
  const paths = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('/.dray'))
    .map((entry) => `${entry.parentPath}/${entry.name}`.slice(root.length + 1));
  return new Map(paths.map((path) => [path, readFileSync(`${root}/${path}`, 'latin1')]));
}

describe('A push in parts', () => {
  it('makes one commit of all objects, which a clone gets byte for byte', async () => {
    fill(200);
    await makeRepository();
    const { counts, parts, published } = await pushFleet({ message: 'all of it' });
    expect(parts.length).toBeGreaterThan(4);
    expect(counts).toMatchObject({ files: 203, copiedFiles: 203, unchangedFiles: 0, failed: 0 });
    expect(published).toMatchObject({ branch: 'main', isNew: true });
    const root = await clone();
    expect(clonedFiles(root)).toEqual(sourceFiles());
    const context = contextIn(root);
    await log(context, {});
    const commits = context.events.filter(({ type }) => type === 'commit');
    expect(commits).toMatchObject([
      { commit: published.commit, message: 'all of it', author: 'tester', files: 203 },
    ]);
    const left = [...store.objects.keys()].filter((key) => key.includes('.dray-fleet/'));
    expect(left.map((key) => key.split('/').at(-1))).toEqual(['job.json', 'report.json']);
  });

  it('compresses where the repository says so, and uses what a workspace has compressed', async () => {
    const text = (bytes: number) =>
      Array.from({ length: bytes / 10 }, (_, at) => `line ${at % 97}`.padEnd(9)).join('\n');
    const layout = { packBelow: 5_000, chunkAbove: 1_000_000 };
    const root = await makeRepository({ compression: 'auto', layout });
    for (let at = 0; at < 50; at += 1) put(`${at}`, `${at}${text(1_000)}`);
    put('object', text(100_000));
    put('another object', text(200_000));
    put('chunks', text(3_000_000));
    sandbox.write('work/object', text(100_000));
    await push(contextIn(root), {});
    const { counts } = await pushFleet();
    expect(counts.failed).toBe(0);
    expect(counts.sentBytes).toBeLessThan(counts.copiedBytes / 4);
    expect(counts.objects).toBe(
      [...store.objects.keys()].filter((key) => /objects|packs/.test(key)).length - 1,
    );
    expect(clonedFiles(await clone())).toEqual(sourceFiles());
  });

  it('reads only objects with another size or time again, and removes what the source has lost', async () => {
    fill(60);
    await makeRepository();
    await pushFleet();
    expect((await pushFleet()).published).toMatchObject({ isNew: false });
    put('0/3', 'another content');
    put('new', 'one more');
    store.objects.delete('raw/1/4');
    store.log.length = 0;
    const { counts, published } = await pushFleet();
    expect(counts).toMatchObject({ files: 63, copiedFiles: 2, unchangedFiles: 61 });
    expect(published.isNew).toBe(true);
    const reads = store.log.filter((line) => line.startsWith('GET') && line.includes('raw/'));
    expect(reads.filter((line) => /raw\/\d|raw\/new/.test(line))).toHaveLength(2);
    expect(clonedFiles(await clone())).toEqual(sourceFiles());
    // Read again because they are asked for; nothing is sent.
    const again = await pushFleet({ compare: 'checksum' });
    expect(again.counts).toMatchObject({ copiedFiles: 63, objects: 0, sentBytes: 0 });
    expect(again.published.isNew).toBe(false);
  });

  it('that has the name of an earlier one stores what changed since then', async () => {
    fill(20);
    await makeRepository();
    const nightly = () => runFleet({ context: contextIn(), id: 'nightly', request });
    expect((await nightly()).report.published).toMatchObject({ isNew: true });
    put('0/3', 'another content');
    expect((await nightly()).report.published).toMatchObject({ isNew: true });
    expect(clonedFiles(await clone())).toEqual(sourceFiles());
    expect((await nightly()).report.published).toMatchObject({ isNew: false });
  });

  it('commits nothing over a commit of before the first collection, which has its manifest inside', async () => {
    fill(70);
    await makeRepository();
    await pushFleet();
    writeFirstRound();
    expect((await pushFleet()).published).toMatchObject({ isNew: false });
    put('0/3', 'another content');
    expect((await pushFleet()).published).toMatchObject({ isNew: true });
    expect((await pushFleet()).published).toMatchObject({ isNew: false });
    expect(clonedFiles(await clone())).toEqual(sourceFiles());
  });

  it('survives that each step runs twice, and moves the branch once', async () => {
    fill(60);
    await makeRepository();
    const { published } = await pushFleet({}, async (name, step) => {
      const once = await step(contextIn());
      if (name === 'begin') return once;
      const again = await step(contextIn());
      if (name === 'finish')
        expect(again).toMatchObject({ published: (once as { published: object }).published });
      return again;
    });
    const root = await clone();
    const context = contextIn(root);
    await log(context, {});
    expect(context.events.filter(({ type }) => type === 'commit')).toMatchObject([
      { commit: published.commit },
    ]);
    expect(clonedFiles(root)).toEqual(sourceFiles());
  });

  it('finds its commit on the branch when it ended between the move of the branch and its report', async () => {
    fill(20);
    await makeRepository();
    const { published } = await pushFleet({}, async (name, step) => {
      if (name !== 'finish') return step(contextIn());
      const kept = new Map(store.objects);
      const first = await step(contextIn());
      for (const [key, bytes] of kept) if (key.includes('.dray-fleet/')) store.objects.set(key, bytes);
      for (const key of store.objects.keys()) if (key.endsWith('report.json')) store.objects.delete(key);
      const second = await step(contextIn());
      expect((second as FleetRun['report']).published).toEqual((first as FleetRun['report']).published);
      return second;
    });
    expect(published.isNew).toBe(true);
  });
});

describe('A push in parts to a branch that moves', () => {
  const during = (name: string, act: () => Promise<unknown>): FleetRunOptions['around'] => {
    return async (step, run) => {
      if (step === name) await act();
      return run(contextIn());
    };
  };

  it('merges changes to other paths, of a folder that alone is replaced', async () => {
    const root = await makeRepository();
    for (const name of ['a', 'raw-list', 'raw/old', 'z/deep/file']) sandbox.write(`work/${name}`, name);
    await push(contextIn(root), {});
    fill(50);
    const { published } = await pushFleet(
      { into: 'raw' },
      during('finish', async () => {
        sandbox.write('work/a', 'changed');
        sandbox.write('work/z/more', 'added');
        await push(contextIn(root), {});
      }),
    );
    expect(published).toMatchObject({ isNew: true });
    const files = new Map<string, string>([
      ...[...sourceFiles()].map(([path, text]) => [`raw/${path}`, text] as const),
      ['a', 'changed'],
      ['raw-list', 'raw-list'],
      ['z/deep/file', 'z/deep/file'],
      ['z/more', 'added'],
    ]);
    expect(clonedFiles(await clone())).toEqual(files);
  });

  it.each([
    ['a new job', false],
    ['the same job again', true],
  ])(
    'leaves it as it is when both changed one path, and %s puts the objects on top',
    async (_, isSameJob) => {
      const root = await makeRepository();
      sandbox.write('work/0/0', 'before');
      await push(contextIn(root), {});
      fill(20);
      const refused = await pushFleet(
        {},
        during('finish', async () => {
          sandbox.write('work/0/0', 'theirs');
          await push(contextIn(root), {});
        }),
      );
      expect(refused.published).toMatchObject({ refused: { code: 'conflict' } });
      expect(clonedFiles(await clone())).toEqual(new Map([['0/0', 'theirs']]));
      const id = isSameJob ? refused.work.id : 'another';
      const { report } = await runFleet({ context: contextIn(), id, request });
      expect(report.published).toMatchObject({ isNew: true });
      expect(clonedFiles(await clone())).toEqual(sourceFiles());
    },
  );

  it('refuses a folder where the branch has a file', async () => {
    const root = await makeRepository();
    sandbox.write('work/a', 'a file');
    await push(contextIn(root), {});
    fill(3);
    await expect(pushFleet({ into: 'a/b' })).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('A push in parts of objects that fail', () => {
  it('commits nothing, and commits once the failed ones succeed', async () => {
    fill(60);
    await makeRepository();
    store.fault = ({ key, method }) =>
      method === 'GET' && key === 'raw/1/7' ? { status: 403, code: 'AccessDenied' } : undefined;
    const { counts, parts, published, work } = await pushFleet();
    expect(counts).toMatchObject({ failed: 1, failedBy: { accessDenied: 1 } });
    expect(published).toMatchObject({ refused: { code: 'partial' } });
    expect(store.objects.has('repo/refs/heads/main')).toBe(false);
    store.fault = () => undefined;
    let failed = counts.failed;
    for (const part of parts) {
      const again = await fleetSteps.retryFailed(contextIn(), work, part);
      failed += again.counts.failed - again.retried;
    }
    expect(failed).toBe(0);
    const end = { result: 'done', startedMs: 0, ranges: 2, parts: parts.length } as const;
    const report = await fleetSteps.finish(contextIn(), work, {
      ...end,
      ranges: rangesOf(parts),
      counts: { ...counts, failed },
    });
    expect(report.published).toMatchObject({ isNew: true });
    expect(clonedFiles(await clone())).toEqual(sourceFiles());
  });

  it('names objects that no dataset can hold: above others, or with parts such as ".."', async () => {
    fill(5);
    put('0/0/below', 'x');
    put('x/../y', 'x');
    await makeRepository();
    const { counts, published } = await pushFleet();
    expect(counts).toMatchObject({ failed: 2, failedBy: { unsafePath: 2 } });
    expect(published.refused?.code).toBe('partial');
  });

  it('finds an object above others also where a part ends between them', async () => {
    for (const name of ['a', 'a-1', 'a-2', 'a/b', 'c']) put(name, name);
    await makeRepository();
    const { counts, published } = await pushFleet({ partFilesMax: 1 });
    expect(counts.failed).toBe(0);
    expect(published.refused?.code).toBe('partial');
    expect(store.objects.has('repo/refs/heads/main')).toBe(false);
  });

  it('ends before the branch moves when the store loses what it acknowledged', async () => {
    fill(20);
    await makeRepository();
    store.fault = ({ key, method }) =>
      method === 'PUT' && key.startsWith('repo/packs/') ? { lost: true } : undefined;
    await expect(pushFleet()).rejects.toMatchObject({ code: 'remoteFailed' });
    expect(store.objects.has('repo/refs/heads/main')).toBe(false);
  });
});

function rangesOf(parts: readonly { readonly range: number }[]): number {
  return Math.max(...parts.map(({ range }) => range)) + 1;
}
