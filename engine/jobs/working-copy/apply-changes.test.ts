import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cloneWorkspace } from '../pull/clone.ts';
import { pull } from '../pull/pull.ts';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { asNobody, createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { describeTree } from '../trees/same-trees.fixture.ts';

let sandbox: Sandbox;
let work: string;
let copy: string;
beforeEach(async () => {
  sandbox = createSandbox();
  work = sandbox.path('work');
  copy = sandbox.path('copy');
  mkdirSync(work);
});
afterEach(() => sandbox[Symbol.dispose]());

async function start(layout: { readonly chunkAbove?: number } = {}): Promise<void> {
  await initWorkspace(testContext(work), {
    remoteUrl: sandbox.path('store'),
    layout: { kind: 'packs', ...layout },
  });
}

async function pushAndClone(): Promise<void> {
  await push(testContext(work), {});
  await cloneWorkspace(testContext(sandbox.folder), { url: sandbox.path('store'), directory: 'copy' });
}

/** Calls `act` on the first turn of the event loop on which `isTime` is true. */
function once(isTime: () => boolean, act: () => void): void {
  if (isTime()) act();
  else setImmediate(once, isTime, act).unref();
}

function stopOnce(isTime: () => boolean): AbortSignal {
  const controller = new AbortController();
  once(isTime, () => controller.abort());
  return controller.signal;
}

describe('a pull that is stopped', () => {
  const names = Array.from({ length: 3_000 }, (_, at) => `${at}`);

  it('while it deletes thousands of files stops at once, and the next one resumes', async () => {
    await start();
    for (const name of names) sandbox.write(`work/${name}`, name);
    sandbox.write('work/kept', 'kept');
    await pushAndClone();
    for (const name of names) rmSync(`${work}/${name}`);
    await push(testContext(work), {});
    const left = () => readdirSync(copy).length;
    const all = left();
    const signal = stopOnce(() => left() < all);
    await expect(pull(testContext(copy, { signal }), {})).rejects.toMatchObject({ code: 'aborted' });
    expect(left()).toBeGreaterThan(names.length / 2);
    expect(await pull(testContext(copy), {})).toMatchObject({ failed: 0 });
    expect(describeTree(copy)).toEqual(describeTree(work));
  });

  it.skipIf(process.platform === 'win32')(
    'while it makes thousands of links stops at once, and the next one resumes (not on Windows)',
    async () => {
      await start();
      sandbox.write('work/kept', 'kept');
      await pushAndClone();
      for (const name of names) symlinkSync('kept', `${work}/${name}`);
      await push(testContext(work), {});
      const made = () => readdirSync(copy).length;
      const before = made();
      const signal = stopOnce(() => made() > before);
      await expect(pull(testContext(copy, { signal }), {})).rejects.toMatchObject({ code: 'aborted' });
      expect(made()).toBeLessThan(names.length / 2);
      expect(await pull(testContext(copy), {})).toMatchObject({ failed: 0 });
      expect(describeTree(copy)).toEqual(describeTree(work));
    },
  );
});

describe('a large file that changes locally while its new content is fetched', () => {
  it('stays as it is, and is named', async () => {
    await start({ chunkAbove: 1_000_000 });
    sandbox.write('work/large', Buffer.alloc(3_000_000, 'one '));
    await pushAndClone();
    sandbox.write('work/large', Buffer.alloc(3_000_000, 'two '));
    await push(testContext(work), {});
    // A temporary file exists, so the file was checked and is being fetched.
    once(
      () => readdirSync(`${copy}/.dray/tmp`).length > 0,
      () => writeFileSync(`${copy}/large`, 'ours, just now'),
    );
    const context = testContext(copy);
    expect(await pull(context, {})).toMatchObject({ failed: 1 });
    expect(eventsOf(context, 'fileFailed')).toMatchObject([{ path: 'large', error: { code: 'conflict' } }]);
    expect(readFileSync(`${copy}/large`, 'utf8')).toBe('ours, just now');
    expect(readdirSync(`${copy}/.dray/tmp`)).toEqual([]);
  });
});

describe('a local folder that can be listed but not entered', () => {
  it.skipIf(process.platform === 'win32')(
    'costs a pull only its own files, each named (not on Windows)',
    async () => {
      await start();
      for (const name of ['closed/changed', 'closed/gone', 'closed/kept', 'open'])
        sandbox.write(`work/${name}`, 'one');
      await pushAndClone();
      for (const name of ['closed/changed', 'closed/new', 'open']) sandbox.write(`work/${name}`, 'two');
      rmSync(`${work}/closed/gone`);
      await push(testContext(work), {});
      chmodSync(`${copy}/closed`, 0o600);
      const context = testContext(copy);
      try {
        await asNobody(sandbox, () => pull(context, {}));
      } finally {
        chmodSync(`${copy}/closed`, 0o755);
      }
      const failed = eventsOf(context, 'fileFailed').map(({ path, error }) => `${path} ${error.code}`);
      expect([...new Set(failed)].sort()).toEqual([
        'closed/changed io',
        'closed/gone io',
        'closed/kept io',
        'closed/new io',
      ]);
      expect(readFileSync(`${copy}/open`, 'utf8')).toBe('two');
      expect(await asNobody(sandbox, () => pull(testContext(copy), {}))).toMatchObject({ failed: 0 });
      expect(describeTree(copy)).toEqual(describeTree(work));
    },
  );
});
