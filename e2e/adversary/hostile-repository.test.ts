/**
 * An attacker with write access puts forged documents into a repository. Clones, pulls, checks and restores from it read, list
 * and change nothing outside of their folder, and each failure is one that Dray foresees.
 */
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DrayError, toDrayError } from '../../engine/api/error.ts';
import { cloneWorkspace } from '../../engine/jobs/clone.ts';
import { keysBelow } from '../../engine/jobs/damage-fixture.ts';
import { diff } from '../../engine/jobs/diff.ts';
import { initWorkspace } from '../../engine/jobs/init.ts';
import { createSandbox, type Sandbox, type TestContext, testContext } from '../../engine/jobs/job-fixture.ts';
import { listTree } from '../../engine/jobs/list-tree.ts';
import { log } from '../../engine/jobs/log.ts';
import { pull } from '../../engine/jobs/pull.ts';
import { push } from '../../engine/jobs/push.ts';
import { restore } from '../../engine/jobs/restore.ts';
import { status } from '../../engine/jobs/status.ts';
import { verify } from '../../engine/jobs/verify.ts';
import { drawFrom } from '../seeded-draw.ts';
import { type Canary, layCanary, tellsOfReads } from './canary.ts';
import { changeRepository, type Objects } from './hostile-documents.ts';

const SEED = 20_261_123;
const STEPS = Number(process.env.DRAY_ADVERSARY_STEPS ?? 600);
const TIMEOUT_MS = 7_200_000;
/** So many steps act on one workspace before all begins anew. */
const STEPS_PER_WORKSPACE = 12;

let sandbox: Sandbox;
let canary: Canary;
beforeEach(() => {
  sandbox = createSandbox();
  canary = layCanary(sandbox.path('outside'));
});
afterEach(() => {
  sandbox?.[Symbol.dispose]();
});

const store = () => sandbox.path('store');
const work = () => sandbox.path('work');
const COMMANDS: Readonly<Record<string, (context: TestContext, step: number) => Promise<unknown>>> = {
  clone: (context) => {
    rmSync(sandbox.path('clone'), { recursive: true, force: true });
    return cloneWorkspace({ ...context, directory: sandbox.folder }, { url: store(), directory: 'clone' });
  },
  pull: (context) => pull(context, {}),
  push: (context, step) => {
    writeFileSync(join(work(), `own-${step % 5}`), `content ${step}`);
    return push(context, {});
  },
  status: (context) => status(context, {}),
  verify: (context) => verify(context, { readDataPercent: 100 }),
  restore: (context) => restore(context, { paths: ['d'], from: 'main' }),
  log: (context) => log(context, {}),
  diff: (context) => diff(context, { from: 'main' }),
  ls: (context) => listTree(context, { ref: 'main', recursive: true }),
};
/** What acts on the documents that were changed is drawn more often. */
const DRAWN = [...Object.keys(COMMANDS), 'clone', 'clone', 'pull', 'pull', 'verify'];

it(
  `a hostile repository leads its readers nowhere in ${STEPS.toLocaleString('en')} steps`,
  async () => {
    const seesReads = tellsOfReads(sandbox.path('probe'));
    const draw = drawFrom(SEED);
    const ends = new Map<string, number>();
    const pristine = await makeRepository();
    for (let step = 0; step < STEPS; step += 1) {
      if (step % STEPS_PER_WORKSPACE === 0) await startAnew(pristine);
      const objects: Objects = draw.chance(70) ? new Map(pristine) : readStore();
      const what = Array.from({ length: 1 + draw.below(2) }, () =>
        changeRepository(draw, objects, canary.root),
      );
      writeStore(objects);
      const name = draw.of(DRAWN);
      const end = `${name}: ${await endOf(name, step, what)}`;
      ends.set(end, (ends.get(end) ?? 0) + 1);
      const traces = canary.findTraces();
      if (traces.length > 0) expect.fail(`step ${step}, ${name} after ${what}: ${traces.join('\n')}`);
      const found = [...findForbidden(work()), ...findForbidden(sandbox.path('clone'))];
      if (found.length > 0) expect.fail(`step ${step}, ${name} after ${what} wrote ${found.join(', ')}`);
      if (name === 'clone') rmSync(sandbox.path('clone'), { recursive: true, force: true });
    }
    const shown = [...ends].sort().map(([end, count]) => `${end} ${count}`);
    console.log(
      `hostile repository: ${STEPS.toLocaleString('en')} steps${
        seesReads ? '' : ' (this file system does not tell of reads: only changes were looked for)'
      }; ${shown.join(', ')}`,
    );
    const others = readdirSync(sandbox.folder).filter((name) => !name.startsWith('clone'));
    expect(others.sort()).toEqual(['outside', 'probe', 'store', 'work']);
    for (const name of Object.keys(COMMANDS)) {
      expect(ends.get(`${name}: done`) ?? 0, name).toBeGreaterThan(0);
    }
  },
  TIMEOUT_MS,
);

it('a folder that a pull takes away is not listed through the links in it', async () => {
  mkdirSync(work());
  await initWorkspace(testContext(work()), { remoteUrl: store() });
  mkdirSync(join(work(), 'place'));
  symlinkSync(canary.root, join(work(), 'place/gate'));
  await push(testContext(work()), {});
  await cloneWorkspace(testContext(sandbox.folder), { url: store(), directory: 'clone' });
  rmSync(join(work(), 'place'), { recursive: true });
  writeFileSync(join(work(), 'place'), 'a file');
  await push(testContext(work()), {});
  await pull(testContext(sandbox.path('clone')), {});
  expect(readFileSync(sandbox.path('clone/place'), 'utf8')).toBe('a file');
  expect(canary.findTraces()).toEqual([]);
});

/** Small, with something of each kind: its documents as they are stored. */
async function makeRepository(): Promise<Objects> {
  mkdirSync(work());
  await initWorkspace(testContext(work()), { remoteUrl: store() });
  for (let file = 0; file < 5; file += 1) sandbox.write(`work/d/${file}`, `file ${file}`);
  sandbox.write('work/empty', '');
  sandbox.write('work/large', Buffer.alloc(1_100_000, 'l'));
  mkdirSync(sandbox.path('work/folder'));
  await push(testContext(work()), { message: 'first' });
  sandbox.write('work/d/5', 'second');
  await push(testContext(work()), { message: 'second' });
  return readStore();
}

async function startAnew(pristine: Objects): Promise<void> {
  writeStore(pristine);
  rmSync(work(), { recursive: true, force: true });
  await cloneWorkspace(testContext(sandbox.folder), { url: store(), directory: 'work' });
}

function readStore(): Objects {
  const keys = keysBelow(store(), '').map((key) => key.replace(/^\//, ''));
  const own = keys.filter((key) => !key.startsWith('.dray-tmp'));
  return new Map(own.map((key) => [key, readFileSync(join(store(), key))]));
}

function writeStore(objects: Objects): void {
  for (const key of readStore().keys()) if (!objects.has(key)) rmSync(join(store(), key));
  for (const [key, bytes] of objects) {
    mkdirSync(dirname(join(store(), key)), { recursive: true });
    writeFileSync(join(store(), key), bytes);
  }
}

/** `done`, or the code of the failure. @throws What Dray did not foresee. */
async function endOf(name: string, step: number, what: readonly string[]): Promise<string> {
  const context = { ...testContext(work()), emit: checkEvent };
  try {
    await COMMANDS[name]!(context, step);
    return 'done';
  } catch (error) {
    const known = toDrayError(error);
    if (known.code === 'internal') throw new Error(`step ${step}, ${name} after ${what}`, { cause: error });
    expect(known.message.length, known.message).toBeLessThan(4_010);
    JSON.stringify(known.data);
    return known.code;
  }
}

/** A file that failed is no less foreseen than a command. */
function checkEvent(event: Parameters<TestContext['emit']>[0]): void {
  if (event.type === 'fileFailed' && event.error.code === 'internal')
    throw new DrayError('internal', `${event.path}: ${event.error.message}`);
}

/** What no repository may make here: set-uid, set-gid and sticky bits, and Dray's own folders but the workspace's. */
function findForbidden(folder: string): string[] {
  if (!lstatSync(folder, { throwIfNoEntry: false })) return [];
  const names = namesBelow(folder).filter((name) => name !== '.dray' && !name.startsWith('.dray/'));
  return names.filter((name) => {
    const stats = lstatSync(join(folder, name));
    const isOurs = name.split('/').some((part) => part.toLowerCase() === '.dray');
    return isOurs || (!stats.isSymbolicLink() && (stats.mode & 0o7000) !== 0);
  });
}

/** Node's own recursive listing goes through links to folders. */
function namesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((item) => {
    const inner = item.isDirectory() ? namesBelow(join(folder, item.name)) : [];
    return [item.name, ...inner.map((name) => `${item.name}/${name}`)];
  });
}
