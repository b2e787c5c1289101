/**
 * Files that cannot be read, named or written: each is named, all others are handled, nothing is
 * half-written.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobEvent } from '../../api/events.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { pull } from '../pull/pull.ts';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import {
  asNobody,
  createSandbox,
  eventsOf,
  type Sandbox,
  type TestContext,
  testContext,
} from '../session/job.fixture.ts';
import { describeTree } from '../trees/same-trees.fixture.ts';
import { status } from './status.ts';

const isLinux = process.platform === 'linux';

let sandbox: Sandbox;
let work: string;
beforeEach(async () => {
  sandbox = createSandbox();
  work = sandbox.path('work');
  mkdirSync(work);
  await initWorkspace(testContext(work), { remoteUrl: sandbox.path('store') });
  sandbox.write('work/fine', 'fine');
});
afterEach(() => sandbox[Symbol.dispose]());

async function cloned(name = 'copy'): Promise<string[]> {
  await cloneWorkspace(testContext(sandbox.folder), { url: sandbox.path('store'), directory: name });
  return describeTree(sandbox.path(name), { times: false });
}

const failures = (context: TestContext) =>
  eventsOf(context, 'fileFailed').map(({ path, error }) => [path, error.code, error.data.reason]);

/** Changes the workspace after the scan and before anything is read. */
function afterScan(act: () => void): TestContext {
  const events: JobEvent[] = [];
  let isDone = false;
  const emit = (event: JobEvent) => {
    events.push(event);
    if (isDone || event.type !== 'progress' || event.phase !== 'scan') return;
    isDone = true;
    act();
  };
  return { ...testContext(work, { emit }), events };
}

describe('a push', () => {
  it('names files that vanished after the scan, sends the rest, and records the loss the next time', async () => {
    sandbox.write('work/gone', 'gone');
    const context = afterScan(() => unlinkSync(`${work}/gone`));
    expect(await push(context, {})).toMatchObject({ result: 'pushed', failed: 1, changes: { added: 1 } });
    expect(failures(context)).toEqual([['gone', 'io', 'vanished']]);
    expect(await cloned()).toEqual([`fine - ${btoa('fine')}`]);
    expect(await push(testContext(work), {})).toMatchObject({ result: 'nothingToPush', failed: 0 });
  });

  it('keeps the old version of a file that it cannot read', async () => {
    sandbox.write('work/file', 'one');
    await push(testContext(work), {});
    sandbox.write('work/file', 'number two');
    sandbox.write('work/fine', 'fine, too');
    const context = afterScan(() => {
      rmSync(`${work}/file`);
      mkdirSync(`${work}/file`);
    });
    expect(await push(context, {})).toMatchObject({ result: 'pushed', failed: 1, changes: { modified: 1 } });
    expect(failures(context)).toEqual([['file', 'io', 'notAFile']]);
    expect(await cloned()).toEqual([`file - ${btoa('one')}`, `fine - ${btoa('fine, too')}`]);
  });

  it('takes a file that changes between scan and reading as it is when it is read', async () => {
    sandbox.write('work/file', 'one');
    const context = afterScan(() => writeFileSync(`${work}/file`, 'much longer than before'));
    expect(await push(context, {})).toMatchObject({ result: 'pushed', failed: 0 });
    expect(await cloned()).toContain(`file - ${btoa('much longer than before')}`);
    expect(await push(testContext(work), {})).toMatchObject({ result: 'nothingToPush' });
  });

  it.skipIf(process.platform === 'win32')(
    'leaves out pipes, sockets and devices, and names them (not on Windows)',
    async () => {
      execFileSync('mkfifo', [`${work}/pipe`]);
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(`${work}/socket`, resolve));
      try {
        const context = testContext(work);
        expect(await push(context, {})).toMatchObject({ result: 'pushed', failed: 0, changes: { added: 1 } });
        const warnings = eventsOf(context, 'warning').filter(
          ({ warning }) => warning === 'skippedSpecialFile',
        );
        expect(warnings.map(({ path }) => path)).toEqual(['pipe', 'socket']);
        for (const { path, message } of warnings) expect(message).toContain(path);
      } finally {
        server.close();
      }
      expect(await cloned()).toEqual([`fine - ${btoa('fine')}`]);
    },
  );

  it.skipIf(process.platform === 'win32')(
    'does not hang on a pipe that replaced a file (not on Windows)',
    async () => {
      sandbox.write('work/file', 'one');
      const context = afterScan(() => {
        unlinkSync(`${work}/file`);
        execFileSync('mkfifo', [`${work}/file`]);
      });
      expect(await push(context, {})).toMatchObject({ result: 'pushed', failed: 1 });
      expect(failures(context)).toEqual([['file', 'io', 'notAFile']]);
    },
  );

  it.runIf(isLinux)(
    'names files, folders and link targets that are not UTF-8, and sends the rest (Linux only)',
    async () => {
      const raw = (name: string) => Buffer.from(`${work}/${name}`, 'latin1');
      writeFileSync(raw('caf\xe9'), 'no UTF-8');
      mkdirSync(raw('d\xff'));
      writeFileSync(raw('d\xff/inside'), 'unreachable by name');
      symlinkSync(Buffer.from('caf\xe9', 'latin1'), `${work}/link`);
      symlinkSync('fine', `${work}/good-link`);
      for (let round = 0; round < 2; round += 1) {
        const context = testContext(work);
        expect(await push(context, {})).toMatchObject({
          result: round === 0 ? 'pushed' : 'nothingToPush',
          failed: 3,
        });
        expect(failures(context).sort()).toEqual([
          ['caf\\xe9', 'io', 'notUtf8'],
          ['d\\xff', 'io', 'notUtf8'],
          ['link', 'io', 'notUtf8'],
        ]);
      }
      expect(await cloned()).toEqual([`fine - ${btoa('fine')}`, 'good-link -> fine']);
      expect(await status(testContext(work), {})).toMatchObject({ failed: 3, changes: { added: 0 } });
    },
  );

  it.skipIf(process.platform === 'win32')(
    'names files and folders that it may not read, and keeps their known state (not on Windows)',
    async () => {
      sandbox.write('work/closed/x', 'x');
      sandbox.write('work/locked', 'one');
      await push(testContext(work), {});
      sandbox.write('work/locked', 'number two');
      sandbox.write('work/new', 'new');
      chmodSync(`${work}/locked`, 0o000);
      chmodSync(`${work}/closed`, 0o000);
      const context = testContext(work);
      try {
        const pushed = await asNobody(sandbox, () => push(context, {}));
        expect(pushed).toMatchObject({
          result: 'pushed',
          failed: 2,
          changes: { added: 1, deleted: 0, modified: 0 },
        });
      } finally {
        chmodSync(`${work}/closed`, 0o755);
        chmodSync(`${work}/locked`, 0o644);
      }
      expect(failures(context).sort()).toEqual([
        ['closed/', 'io', 'unreadable'],
        ['locked', 'io', 'unreadable'],
      ]);
      expect(await cloned()).toEqual([
        'closed/',
        `closed/x - ${btoa('x')}`,
        `fine - ${btoa('fine')}`,
        `locked - ${btoa('one')}`,
        `new - ${btoa('new')}`,
      ]);
    },
  );
});

describe('a pull', () => {
  it('leaves a file that changed here meanwhile as it is, and names it', async () => {
    await push(testContext(work), {});
    await cloned();
    const copy = sandbox.path('copy');
    // A young file would be read again after the scan, and its change found before anything is written.
    utimesSync(`${copy}/fine`, 1_000_000, 1_000_000);
    await status(testContext(copy), {});
    sandbox.write('work/fine', 'theirs');
    sandbox.write('work/other', 'other');
    await push(testContext(work), {});
    const context = afterScan(() => writeFileSync(`${copy}/fine`, 'ours, just now'));
    expect(await pull({ ...context, directory: copy }, {})).toMatchObject({ failed: 1 });
    expect(eventsOf(context, 'fileFailed')).toMatchObject([{ path: 'fine', error: { code: 'conflict' } }]);
    expect(readFileSync(`${copy}/fine`, 'utf8')).toBe('ours, just now');
    expect(readFileSync(`${copy}/other`, 'utf8')).toBe('other');
    await expect(pull(testContext(copy), {})).rejects.toMatchObject({
      code: 'conflict',
      data: { paths: ['fine'] },
    });
    expect(readFileSync(`${copy}/fine`, 'utf8')).toBe('ours, just now');
  });

  it('does not follow a link that replaces a folder meanwhile', async () => {
    sandbox.write('work/d/x', 'one');
    await push(testContext(work), {});
    await cloned();
    sandbox.write('work/d/x', 'number two');
    sandbox.write('work/d/y', 'new');
    await push(testContext(work), {});
    const elsewhere = sandbox.path('elsewhere');
    mkdirSync(elsewhere);
    const copy = sandbox.path('copy');
    const context = afterScan(() => {
      renameSync(`${copy}/d`, `${copy}/moved`);
      symlinkSync(elsewhere, `${copy}/d`);
    });
    const outcome = await pull({ ...context, directory: copy }, {}).catch((error: unknown) => error);
    expect(readdirSync(elsewhere)).toEqual([]);
    expect(readFileSync(`${copy}/moved/x`, 'utf8')).toBe('one');
    const isRefused =
      (outcome as { code?: string }).code === 'conflict' || (outcome as { failed?: number }).failed! > 0;
    expect(isRefused).toBe(true);
  });
});

describe('a full disk', () => {
  const folder = () => sandbox.path('small-disk');
  const mount = () => `mount -t tmpfs -o size=3m none ${folder()}`;
  const canMount = isLinux && spawnSync('unshare', ['-rm', 'true']).status === 0;
  if (!canMount)
    console.warn(
      'The full disk is not tested: "unshare -rm" does not work here, which it needs to mount a small one.',
    );

  it.skipIf(!canMount)(
    'stops a clone with its exit code and no half-written file, and the clone resumes when there is room (needs unshare)',
    async () => {
      mkdirSync(folder());
      for (let at = 0; at < 40; at += 1)
        sandbox.write(`work/${at}`, Buffer.alloc(200_000, `content of ${at}, `));
      await push(testContext(work), {});
      const script = `
      import { execFileSync } from 'node:child_process';
      import { readdirSync, readFileSync } from 'node:fs';
      import { cloneWorkspace } from ${url('../pull/clone.ts')};
      import { describeTree } from ${url('../trees/same-trees.fixture.ts')};
      const [folder, store, work] = ${JSON.stringify([folder(), sandbox.path('store'), work])};
      const context = { directory: folder, connection: {}, environment: {}, signal: new AbortController().signal, emit: () => {} };
      const clone = () => cloneWorkspace(context, { url: store, directory: 'copy' });
      const failure = await clone().then(() => undefined, ({ code, message }) => ({ code, message }));
      const isWhole = (name) => readFileSync(folder + '/copy/' + name).equals(readFileSync(work + '/' + name));
      const names = readdirSync(folder + '/copy').filter((name) => name !== '.dray');
      const broken = names.filter((name) => !isWhole(name));
      const left = readdirSync(folder + '/copy/.dray/tmp');
      execFileSync('mount', ['-o', 'remount,size=64m', folder]);
      const { failed } = await clone();
      const isSame = describeTree(folder + '/copy').join() === describeTree(work).join();
      console.log(JSON.stringify({ failure, written: names.length, broken, left, failed, isSame }));`;
      const command = `${mount()} && exec "$0" --input-type=module -e "$1"`;
      const { stdout, stderr } = spawnSync(
        'unshare',
        ['-rm', 'sh', '-c', command, process.execPath, script],
        { encoding: 'utf8' },
      );
      expect(stderr).toBe('');
      const seen = JSON.parse(stdout);
      expect(seen).toMatchObject({
        failure: { code: 'diskFull' },
        broken: [],
        left: [],
        failed: 0,
        isSame: true,
      });
      expect(seen.failure.message).toContain('disk is full');
      expect(seen.written).toBeLessThan(41);
      expect(existsSync(`${folder()}/copy`)).toBe(false);
    },
  );

  const url = (name: string) => JSON.stringify(new URL(name, import.meta.url).href);
});
