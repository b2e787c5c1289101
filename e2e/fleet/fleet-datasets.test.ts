/** Versioned datasets and a fleet: a real Temporal server, a real S3 server, and two workers as processes. */
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { verify } from '../../engine/jobs/history/verify.ts';
import { cloneWorkspace } from '../../engine/jobs/pull/clone.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { createSandbox, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { type Fleet, type FleetWorker, numberedFiles, openFleet } from './open-fleet.ts';
import { runFleet } from './run-fleet.ts';

let fleet: Fleet;
let sandbox: Sandbox;
let workers: readonly FleetWorker[];
const place = (prefix: string) => `s3://${fleet.s3.bucket}/${prefix}`;
const path = (name: string) => join(fleet.s3.dataFolder, fleet.s3.bucket, name);
const filesBelow = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
const context = (folder: string) =>
  testContext(folder, { environment: { ...fleet.s3.environment, DRAY_AUTHOR: 'tester' } });

async function openWorkspace(repository: string): Promise<string> {
  const root = sandbox.path(`${repository}-work`);
  mkdirSync(root, { recursive: true });
  const layout = { packBelow: 8, chunkAbove: 100 };
  await initWorkspace(context(root), { remoteUrl: place(repository), layout });
  return root;
}

beforeAll(async () => {
  fleet = await openFleet();
  sandbox = createSandbox();
  workers = await Promise.all(['a', 'b'].map(startWorker));
});
afterAll(async () => {
  sandbox?.[Symbol.dispose]();
  await fleet?.[Symbol.asyncDispose]();
});

/** Each offers a folder with its name. */
function startWorker(name: string): Promise<FleetWorker> {
  mkdirSync(sandbox.path(name), { recursive: true });
  return fleet.startWorker({ words: ['--name', name, '--folder', sandbox.path(name)] });
}

/** The files of a clone of the branch, which is verified. */
async function clonedFiles(repository: string): Promise<ReadonlyMap<string, string>> {
  const directory = `${repository}-copy`;
  await cloneWorkspace(context(sandbox.folder), { url: place(repository), directory });
  const root = sandbox.path(directory);
  expect(await verify(context(root), { readDataPercent: 100 })).toMatchObject({ missing: 0, damaged: 0 });
  const files = filesBelow(root).filter((name) => !name.includes('/.dray/'));
  return new Map(files.map((name) => [name.slice(root.length + 1), readFileSync(name, 'utf8')]));
}

const FILES = 240;
const SLOW = ['--part-files', '20', '--ranges', '4', '--max-requests', '60', '--json'];

interface SlowPush {
  readonly repository: string;
  readonly words?: readonly string[];
  /** Called when the first parts are done. */
  readonly midway: () => Promise<unknown>;
}

/** Pushes the objects below `raw` into a folder of a dataset whose branch moves meanwhile. */
async function pushSlowly({ midway, repository, words = [] }: SlowPush): Promise<void> {
  const root = await openWorkspace(repository);
  for (const name of ['readme', 'raw/old', 'tables/one']) sandbox.write(`${repository}-work/${name}`, name);
  await push(context(root), {});
  const id = `${repository}-push`;
  const job = fleet.follow(
    ...['push', place('raw'), place(repository), '--into', 'raw', '-m', 'all of June', '--id', id],
    ...SLOW,
    ...words,
  );
  const isEnded = job.ended.then(() => true);
  await expect
    .poll(async () => {
      const { summary } = await fleet.run('status', id, '--json');
      if (await Promise.race([isEnded, false])) throw new Error((await job.ended).stderr);
      return summary.partsDone ?? 0;
    })
    .toBeGreaterThan(0);
  sandbox.write(`${repository}-work/tables/two`, 'added meanwhile');
  await push(context(root), {});
  await midway();
  const ended = await job.ended;
  expect(ended, ended.stdout + ended.stderr).toMatchObject({ exitCode: 0 });
  expect(ended.summary).toMatchObject({
    ...{ result: 'done', failed: 0, counts: { files: FILES, failed: 0 } },
    published: { branch: 'main', isNew: true },
  });
  const expected = new Map<string, string>([
    ...Object.entries(numberedFiles(FILES)).map(([name, text]) => [`raw/${name}`, text] as const),
    ...['readme', 'tables/one'].map((name) => [name, name] as const),
    ['tables/two', 'added meanwhile'],
  ]);
  expect(await clonedFiles(repository)).toEqual(expected);
}

describe('a fleet of two workers', () => {
  longIt('pushes a bucket as one commit with both, while another push moves the branch', async () => {
    await fleet.put('raw', numberedFiles(FILES));
    await pushSlowly({ repository: 'pushed', midway: async () => {} });
    for (const { lines } of workers)
      expect(lines.filter(({ state, step }) => step === 'runPart' && state === 'ended')).not.toEqual([]);
    const again = await fleet.run('push', place('raw'), place('pushed'), '--into', 'raw', '--json');
    expect(again.summary).toMatchObject({
      counts: { copiedFiles: 0, unchangedFiles: FILES },
      published: { isNew: false },
    });
    const stored = await fleet.temporal.stored();
    expect(stored.includes('object-0')).toBe(false);
    expect(stored.includes('all of June')).toBe(false);
  });

  longIt('pushes everything although a worker is killed in the middle', async () => {
    await fleet.put('raw', numberedFiles(FILES));
    const doomed = await fleet.startWorker();
    await pushSlowly({
      ...{ repository: 'killed', words: ['--dead-after', '5s'] },
      midway: async () => {
        const count = (wanted: string) => doomed.lines.filter(({ state }) => state === wanted).length;
        await expect.poll(() => count('started') > count('ended')).toBe(true);
        await doomed.kill();
      },
    });
  });

  it('pushes the folders of its workers as one commit, and no path of them reaches Temporal', async () => {
    for (let at = 0; at < 60; at += 1) sandbox.write(`${'ab'[at % 2]}/shard-${at % 4}/local-${at}`, `${at}`);
    for (const name of ['a', 'b']) sandbox.write(`${name}/local-readme`, 'on both');
    const words = ['push', '--workers', 'a,b', place('folders'), '--part-files', '20', '--json'];
    const { exitCode, stderr, stdout, summary } = await fleet.run(...words, '-m', 'two machines');
    expect(exitCode, stdout + stderr).toBe(0);
    expect(summary).toMatchObject({
      ...{ result: 'done', ranges: 2, counts: { files: 62, copiedFiles: 62 } },
      ...{ source: 'workers a,b', published: { branch: 'main', isNew: true } },
    });
    const expected = ['a', 'b'].flatMap((name) =>
      filesBelow(sandbox.path(name)).map(
        (file) => [file.slice(sandbox.path(name).length + 1), readFileSync(file, 'utf8')] as const,
      ),
    );
    expect(await clonedFiles('folders')).toEqual(new Map(expected));
    sandbox.write('b/local-readme', 'changed on one');
    const differing = await fleet.run('push', '--workers', 'a,b', place('folders'), '--id', 'differing');
    expect(differing.exitCode).toBe(5);
    expect(differing.stdout).toMatch(/At 1 path, the workers "a" and "b" have different files/);
    const [list] = filesBelow(path('folders/.dray-fleet/differing/failures'));
    expect(JSON.parse(readFileSync(list!, 'utf8'))).toMatchObject({ path: 'local-readme', code: 'conflict' });
    expect((await fleet.temporal.stored()).includes('local-')).toBe(false);
  });

  longIt('waits for a worker that was killed, names it, and continues once it is back', async () => {
    for (let at = 0; at < FILES; at += 1) sandbox.write(`doomed/${at % 10}/${at}`, `content of ${at}`);
    sandbox.write('a/only', 'of a');
    const doomed = await startWorker('doomed');
    await expect(startWorker('doomed')).rejects.toThrow(/has the name .*doomed.* already/);
    const job = fleet.follow(
      ...['push', '--workers', 'a,doomed', place('back'), '--by-worker', '--id', 'back'],
      ...['--dead-after', '5s', ...SLOW],
    );
    const ended = (lines: FleetWorker['lines']) =>
      lines.filter(({ state, step }) => step === 'runPart' && state === 'ended').length;
    await expect.poll(() => ended(doomed.lines)).toBeGreaterThan(0);
    await doomed.kill();
    await expect
      .poll(async () => (await fleet.run('status', 'back')).stdout, { timeout: 60_000, interval: 1_000 })
      .toMatch(/^Waits {3}for doomed$/m);
    const back = await startWorker('doomed');
    const { exitCode, stderr, stdout, summary } = await job.ended;
    expect(exitCode, stdout + stderr).toBe(0);
    expect(stdout).toContain('waits for these workers: doomed.');
    expect(summary).toMatchObject({ failed: 0, published: { isNew: true } });
    // It did not begin anew.
    expect(ended(doomed.lines)).toBeGreaterThan(0);
    expect(ended(back.lines)).toBeLessThan(FILES / 20);
    const files = await clonedFiles('back');
    for (const name of ['a', 'doomed'])
      for (const file of filesBelow(sandbox.path(name)))
        expect(files.get(`${name}/${file.slice(sandbox.path(name).length + 1)}`)).toBe(
          readFileSync(file, 'utf8'),
        );
  });

  longIt('stores a large object of a layout without chunks, in two readings', async () => {
    const root = sandbox.path('plain-work');
    mkdirSync(root);
    await initWorkspace(context(root), {
      remoteUrl: place('plain'),
      layout: { packBelow: 0, chunkAbove: 0 },
    });
    const large = 'large'.repeat(14 * 1024 ** 2);
    await fleet.put('large', { large, small: 'small' });
    const { counts, report } = await runFleet({
      context: context(sandbox.folder),
      id: 'plain',
      request: { kind: 'push', source: { place: place('large') }, destination: { place: place('plain') } },
    });
    expect(counts).toMatchObject({ copiedFiles: 2, objects: 2, failed: 0 });
    expect(report.published).toMatchObject({ isNew: true });
    expect((await clonedFiles('plain')).get('large') === large).toBe(true);
  });

  longIt('verifies a repository with both, and reports what is missing by the exit code', async () => {
    const root = await openWorkspace('verified');
    for (let commit = 0; commit < 12; commit += 1) {
      for (let at = 0; at < 10; at += 1)
        sandbox.write(`verified-work/${commit}/${at}`, `content ${commit} ${at}`);
      await push(context(root), {});
    }
    const small = ['--part-files', '20', '--read-data', '--json'];
    const whole = await fleet.run('verify', place('verified'), ...small);
    expect(whole, whole.stdout + whole.stderr).toMatchObject({ exitCode: 0 });
    expect(whole.summary).toMatchObject({ result: 'done', counts: { commits: 12, missing: 0, damaged: 0 } });
    for (const { lines } of workers)
      expect(lines.filter(({ state, step }) => step === 'runPart' && state === 'ended')).not.toEqual([]);
    const [object] = filesBelow(path('verified/objects'));
    rmSync(object!);
    const lost = await fleet.run('verify', place('verified'), 'main', '--id', 'lost');
    expect(lost, lost.stdout + lost.stderr).toMatchObject({ exitCode: 1 });
    expect(lost.stdout).toContain('1 missing and 0 damaged');
    const findings = filesBelow(path('verified/.dray-fleet/lost/failures'));
    const lines = findings.map((name) => JSON.parse(readFileSync(name, 'utf8')));
    expect(lines).toMatchObject([{ check: 'missing', paths: [expect.any(String)] }]);
    const stored = await fleet.temporal.stored();
    expect(stored.includes(lines[0].paths[0])).toBe(false);
    expect(stored.includes(lines[0].detail)).toBe(false);
  });
});
