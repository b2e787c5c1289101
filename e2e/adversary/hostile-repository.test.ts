/**
 * An attacker with write access puts forged documents into a repository. Clones, pulls, verifications and
 * restores from it read, list and change nothing outside their folder, and every failure has an error code
 * that Dray knows.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { listTree } from '../../engine/jobs/history/list-tree.ts';
import { log } from '../../engine/jobs/history/log.ts';
import { verify } from '../../engine/jobs/history/verify.ts';
import { cloneWorkspace } from '../../engine/jobs/pull/clone.ts';
import { pull } from '../../engine/jobs/pull/pull.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { keysBelow } from '../../engine/jobs/session/damage.fixture.ts';
import {
  createSandbox,
  type Sandbox,
  type TestContext,
  testContext,
} from '../../engine/jobs/session/job.fixture.ts';
import { diff } from '../../engine/jobs/working-copy/diff.ts';
import { restore } from '../../engine/jobs/working-copy/restore.ts';
import { status } from '../../engine/jobs/working-copy/status.ts';
import { drawFrom } from '../seeded-draw.ts';
import { type Canary, layCanary } from './canary.ts';
import { changeRepository, type Objects } from './hostile-documents.ts';
import { createOutcomes, findForbidden, printRun, refuseUnforeseen } from './outcomes.ts';

const SEED = 20_261_123;
const STEPS = Number(process.env.DRAY_ADVERSARY_STEPS ?? runBudget({ short: 96, long: 600 }));
const TIMEOUT_MS = 7_200_000;
/** One workspace serves this many steps; then the repository and the workspace start anew. */
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
/** Commands that read changed documents are drawn more often. */
const DRAWN = [...Object.keys(COMMANDS), 'clone', 'clone', 'pull', 'pull', 'verify'];

it(
  `readers of a hostile repository stay inside their folder for ${STEPS.toLocaleString('en')} steps`,
  async () => {
    const draw = drawFrom(SEED);
    const outcomes = createOutcomes();
    const pristine = await makeRepository();
    for (let step = 0; step < STEPS; step += 1) {
      if (step % STEPS_PER_WORKSPACE === 0) await startAnew(pristine);
      const objects: Objects = draw.chance(70) ? new Map(pristine) : readStore();
      const what = Array.from({ length: 1 + draw.below(2) }, () =>
        changeRepository(draw, objects, canary.root),
      );
      writeStore(objects);
      const name = draw.of(DRAWN);
      const shown = `step ${step}, ${name} after ${what}`;
      const context = testContext(work(), { emit: refuseUnforeseen });
      await outcomes
        .run(name, () => COMMANDS[name]!(context, step))
        .catch((cause) => Promise.reject(new Error(shown, { cause })));
      expect(canary.findTraces(), shown).toEqual([]);
      const written = [work(), sandbox.path('clone')].filter((folder) => existsSync(folder));
      expect(written.flatMap(findForbiddenInWorkspace), shown).toEqual([]);
      if (name === 'clone') rmSync(sandbox.path('clone'), { recursive: true, force: true });
    }
    printRun(`hostile repository: ${STEPS.toLocaleString('en')} steps`, canary, outcomes.counts());
    const others = readdirSync(sandbox.folder).filter((name) => !name.startsWith('clone'));
    expect(others.sort()).toEqual(['outside', 'store', 'work']);
    outcomes.expectDone(COMMANDS);
  },
  TIMEOUT_MS,
);

it('a pull that removes a folder does not follow the links in it', async () => {
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

/** The stored documents of a small repository that holds something of each kind. */
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

/** Dray's own folder is allowed at the top of a workspace only. */
function findForbiddenInWorkspace(folder: string): string[] {
  return findForbidden(folder).filter((name) => name !== '.dray' && !name.startsWith('.dray/'));
}
