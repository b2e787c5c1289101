/** The folders of workers pushed as one dataset, against a small server. */
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type FleetRunOptions, runFleet } from '../../../../e2e/fleet/run-fleet.ts';
import { contextIn, freshStorePerTest, sandbox, store } from '../../../../e2e/fresh-store.ts';
import type { FleetRequest } from '../../../api/jobs/fleet.ts';
import { createTreeFilter } from '../../../model/tree-filter.ts';
import type { TreeItem } from '../../../model/tree-item.ts';
import { verify } from '../../history/verify.ts';
import { cloneWorkspace } from '../../pull/clone.ts';
import { initWorkspace } from '../../remotes/init.ts';
import { fleetSteps } from '../fleet-steps.ts';
import { createFolderSource } from './folder-source.ts';
import type { PartSource } from './part-source.ts';

freshStorePerTest();

const place = { place: 's3://fake-bucket/repo' };
const request: FleetRequest = {
  ...{ kind: 'push', source: place, destination: place },
  workers: ['a', 'b'],
  partFilesMax: 20,
};
const LAYOUT = {
  ...{ packBelow: 100, packTarget: 1_000, chunkAbove: 2_000 },
  chunkSize: { min: 512, average: 1_024, max: 4_096 },
};
const LONG_AGO = new Date('2026-01-02T03:04:05.678Z');

/** Old enough that no step waits for the clock. */
function write(path: string, content: string | Buffer): void {
  sandbox.write(path, content);
  utimesSync(sandbox.path(path), LONG_AGO, LONG_AGO);
}

let jobs = 0;
function pushFolders(more: Partial<FleetRequest> = {}, around?: FleetRunOptions['around']) {
  jobs += 1;
  for (const name of ['a', 'b']) mkdirSync(sandbox.path(name), { recursive: true });
  return runFleet({
    context: contextIn(),
    id: `job-${jobs}`,
    request: { ...request, ...more },
    folders: { a: sandbox.path('a'), b: sandbox.path('b') },
    ...(around && { around }),
  });
}

let clones = 0;
async function clone(): Promise<string> {
  clones += 1;
  const directory = `copy-${clones}`;
  await cloneWorkspace(contextIn(), { url: place.place, directory });
  const root = sandbox.path(directory);
  expect(await verify(contextIn(root), { readDataPercent: 100 })).toMatchObject({ missing: 0, damaged: 0 });
  return root;
}

/** Content, mode and time of each file, and where links lead. */
function tree(root: string): Readonly<Record<string, string>> {
  const found = readdirSync(root, { recursive: true, withFileTypes: true })
    .map((entry) => ({ entry, path: `${entry.parentPath}/${entry.name}` }))
    .filter(({ path }) => !path.startsWith(`${root}/.dray`));
  return Object.fromEntries(
    found.map(({ entry, path }) => [path.slice(root.length + 1), describeEntry(path, entry)] as const),
  );
}
function describeEntry(path: string, entry: { isSymbolicLink(): boolean; isDirectory(): boolean }): string {
  if (entry.isSymbolicLink()) return `-> ${readlinkSync(path)}`;
  if (entry.isDirectory()) return readdirSync(path).length === 0 ? 'empty' : 'folder';
  const { mode, mtimeNs } = statSync(path, { bigint: true });
  return `${mtimeNs} ${(mode & 0o100n) !== 0n} ${readFileSync(path, 'latin1')}`;
}
const manifestsOf = () => [...store.objects.keys()].filter((key) => key.startsWith('repo/manifests/'));
const failuresOf = (id: string) =>
  [...store.objects]
    .filter(([key]) => key.startsWith(`repo/.dray-fleet/${id}/failures/`))
    .flatMap(([, bytes]) => Buffer.from(bytes).toString().trim().split('\n'))
    .map((line) => JSON.parse(line));

async function makeRepository(): Promise<void> {
  mkdirSync(sandbox.path('work'));
  await initWorkspace(contextIn(sandbox.path('work')), { remoteUrl: place.place, layout: LAYOUT });
}

/** Small, middle and large files on both, which alternate. */
function fill(): void {
  for (let at = 0; at < 90; at += 1)
    write(`${at % 2 === 0 ? 'a' : 'b'}/${at % 3}/${String(at).padStart(3, '0')}`, `content of ${at}`);
  write('a/object', 'o'.repeat(500));
  write('b/chunks', Buffer.from(Array.from({ length: 9_000 }, (_, at) => (at * at) >> 5)));
  write('b/empty', '');
  for (const name of ['a', 'b']) write(`${name}/readme`, 'the same on both');
}

describe('The folders of workers', () => {
  it('become one commit with their times, modes, links and empty folders', async () => {
    await makeRepository();
    fill();
    chmodSync(sandbox.path('a/object'), 0o755);
    symlinkSync('/etc/passwd', sandbox.path('b/link'));
    mkdirSync(sandbox.path('a/hollow'));
    mkdirSync(sandbox.path('b/hollow/not'), { recursive: true });
    const { counts, parts, report } = await pushFolders();
    expect(counts).toMatchObject({ files: 95, copiedFiles: 95, unchangedFiles: 0, failed: 0 });
    expect(parts.length).toBeGreaterThan(4);
    expect(report.published).toMatchObject({ branch: 'main', isNew: true });
    const copy = tree(await clone());
    const { hollow, ...ofA } = tree(sandbox.path('a'));
    expect(hollow).toBe('empty');
    expect(copy).toEqual({ ...ofA, ...tree(sandbox.path('b')) });
    expect(copy.link).toBe('-> /etc/passwd');
    // Nothing else of the steps is left once the commit is there.
    expect([...store.objects.keys()].filter((key) => key.includes('.dray-fleet/'))).toEqual([
      `repo/.dray-fleet/job-${jobs}/job.json`,
      `repo/.dray-fleet/job-${jobs}/report.json`,
    ]);
    const before = manifestsOf().length;
    const again = await pushFolders();
    expect(again.counts).toMatchObject({ copiedFiles: 0, unchangedFiles: 95, receivedBytes: 0 });
    expect(again.report.published).toMatchObject({ isNew: false });
    expect(manifestsOf().length).toBe(before);
  });

  it('lie below the names of the workers on request, in a folder of the dataset', async () => {
    write('a/x', 'of a');
    write('b/x', 'of b');
    await pushFolders({ byWorker: true, into: 'raw' });
    const root = await clone();
    expect(readFileSync(`${root}/raw/a/x`, 'utf8')).toBe('of a');
    expect(readFileSync(`${root}/raw/b/x`, 'utf8')).toBe('of b');
    const again = await pushFolders({ byWorker: true, into: 'raw' });
    expect(again.counts).toMatchObject({ unchangedFiles: 2, copiedFiles: 0 });
  });

  it('with different files at one path commit nothing, and the report names workers and paths', async () => {
    write('a/x', 'of a');
    write('b/x', 'of b');
    write('a/y', 'a file');
    write('b/y/z', 'below it');
    const { report, work } = await pushFolders();
    const { refused } = report.published!;
    expect(refused).toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/2 paths.*"a" and "b"/),
    });
    expect(failuresOf(work.id)).toEqual([
      {
        ...{ path: 'x', code: 'conflict' },
        message: 'The workers "a" and "b" have different files at x.',
      },
      {
        ...{ path: 'y/z', code: 'conflict' },
        message: 'The worker "a" has a file at y, where the worker "b" has a folder with y/z.',
      },
    ]);
    expect(store.objects.has('repo/refs/heads/main')).toBe(false);
    expect(manifestsOf()).toEqual([]);
  });

  it('may be empty, but not all of them', async () => {
    const none = await pushFolders();
    expect(none.report.published?.refused).toMatchObject({ message: expect.stringMatching(/empty/) });
    write('b/x', 'alone');
    expect((await pushFolders()).report.published).toMatchObject({ isNew: true });
    expect(Object.keys(tree(await clone()))).toEqual(['x']);
  });

  it('may change while the job runs: each part stores what is there when it runs', async () => {
    fill();
    let isChanged = false;
    const run = await pushFolders({}, async (name, step) => {
      if (name === 'runPart' && !isChanged) {
        isChanged = true;
        // The parts were cut before.
        write('a/0/000', 'longer than it was');
        write('b/0/new', 'added');
        rmSync(sandbox.path('b/chunks'));
        renameSync(sandbox.path('a/2'), sandbox.path('a/4'));
      }
      return step(contextIn());
    });
    expect(run.counts.failed).toBe(0);
    expect(tree(await clone())).toEqual({ ...tree(sandbox.path('a')), ...tree(sandbox.path('b')) });
  });

  it('are pushed once although every step runs twice', async () => {
    fill();
    await pushFolders({}, async (name, step) => {
      const once = await step(contextIn());
      const again = await step(contextIn());
      if (name === 'cutRange') expect(again).toEqual(once);
      return name === 'runPart' ? once : again;
    });
    expect(tree(await clone())).toEqual({ ...tree(sandbox.path('a')), ...tree(sandbox.path('b')) });
  });

  it.each(['', 'below/'])('are refused if a workspace at a/%s holds a part of a dataset', async (folder) => {
    write('a/before', 'before');
    await pushFolders();
    const url = place.place;
    write('b/1', 'one');
    write('b/2', 'two');
    await pushFolders();
    rmSync(sandbox.path('a'), { recursive: true });
    await cloneWorkspace(contextIn(), { url, directory: `a/${folder}`, only: ['1'] });
    rmSync(sandbox.path('b'), { recursive: true });
    await expect(pushFolders()).rejects.toMatchObject({ code: 'usage', data: { reason: 'holdsPart' } });
    expect(Object.keys(tree(await clone())).sort()).toEqual(['1', '2', 'before']);
  });

  it('are not committed while a file cannot be stored', async () => {
    write('a/good', 'good');
    write('a/bad', 'bad');
    // Root reads files of any mode, but no name that is not UTF-8 fits into a dataset.
    renameSync(sandbox.path('a/bad'), Buffer.from(`${sandbox.path('a')}/bad-\xff`, 'latin1'));
    const { counts, report, work } = await pushFolders();
    expect(counts).toMatchObject({ files: 1, failed: 1, failedBy: { io: 1 } });
    expect(report.published?.refused).toMatchObject({ code: 'partial' });
    expect(failuresOf(work.id)).toMatchObject([{ path: 'bad-\\xff', code: 'io' }]);
  });
});

async function readAll(source: PartSource): Promise<TreeItem[]> {
  const items: TreeItem[] = [];
  for await (const page of source.items(() => {})) items.push(...page);
  return items.map((item) => source.look(item)!);
}

describe('A worker', () => {
  it.each([
    ['has no folder to offer', undefined, 'offers no folder'],
    ['has another name', { worker: 'b', folder: '/' }, 'this worker is "b"'],
  ])('reads nothing for a job when it %s', async (_, offers, message) => {
    const work = await fleetSteps.begin(contextIn(), 'asked', request);
    await fleetSteps.planRanges(contextIn(), work);
    const context = { ...contextIn(), ...(offers && { offers }) };
    const cut = fleetSteps.cutRange(context, work, { range: 0, first: 0, cutsMax: 1 });
    await expect(cut).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining(message) });
  });

  it('follows no link out of its folder, even one that appears after the scan', async () => {
    sandbox.write('secret/key', 'secret');
    write('a/data/key', 'public');
    const { signal } = contextIn();
    const source = createFolderSource({
      ...{ root: sandbox.path('a'), range: {}, signal },
      filter: createTreeFilter({}),
    });
    const [item] = await readAll(source);
    expect(Buffer.from(await source.read(item!, signal)).toString()).toBe('public');
    renameSync(sandbox.path('a/data'), sandbox.path('a/was'));
    symlinkSync(sandbox.path('secret'), sandbox.path('a/data'));
    expect(() => source.look(item!)).toThrow(expect.objectContaining({ code: 'unsafePath' }));
    await expect(source.read(item!, signal)).rejects.toMatchObject({ code: 'unsafePath' });
    await expect(source.cat(item!, async () => {}, signal)).rejects.toMatchObject({ code: 'unsafePath' });
  });

  it('fails a file that changes between the look and the read, and no other', async () => {
    write('a/log', 'one line');
    const { signal } = contextIn();
    const source = createFolderSource({
      ...{ root: sandbox.path('a'), range: {}, signal },
      filter: createTreeFilter({}),
    });
    const [item] = await readAll(source);
    sandbox.write('a/log', 'two lines');
    const changed = { code: 'io', data: { path: 'log', reason: 'changedWhileRead' } };
    await expect(source.read(item!, signal)).rejects.toMatchObject(changed);
    await expect(source.cat(item!, async () => {}, signal)).rejects.toMatchObject(changed);
  });
});

describe('A push of workers', () => {
  it.each([
    [[], /No worker/],
    [['a', 'a'], /twice/],
    [['../a'], /cannot be the name/],
    [['.dray'], /cannot be the name/],
  ])('refuses the names %j', async (workers, message) => {
    const begun = fleetSteps.begin(contextIn(), 'named', { ...request, workers });
    await expect(begun).rejects.toMatchObject({ code: 'usage', message: expect.stringMatching(message) });
  });
});
