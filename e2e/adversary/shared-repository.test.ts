/**
 * A hostile local user with write access to a shared `file:` repository lays links in it that lead into the
 * owner's home. No command that the owner then runs on the repository reads, lists or changes anything in the
 * home.
 */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { tag } from '../../engine/jobs/history/refs.ts';
import { verify } from '../../engine/jobs/history/verify.ts';
import { cloneWorkspace } from '../../engine/jobs/pull/clone.ts';
import { pull } from '../../engine/jobs/pull/pull.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { keysBelow } from '../../engine/jobs/session/damage.fixture.ts';
import { createSandbox, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { type Draw, drawFrom } from '../seeded-draw.ts';
import { type Canary, layCanary } from './canary.ts';
import { createOutcomes, printRun } from './outcomes.ts';

const SEED = 20_261_123;
const STEPS = Number(process.env.DRAY_ADVERSARY_STEPS ?? runBudget({ short: 40, long: 150 }));
const TIMEOUT_MS = 7_200_000;
const FOLDERS = [
  '.dray-tmp',
  '.dray-tmp/writes',
  '.dray-tmp/uploads',
  '.dray-tmp/locks',
  'objects',
  'packs',
  'packs/ab',
  'manifests',
  'commits',
  'refs',
  'refs/heads',
  'refs/tags',
] as const;

let sandbox: Sandbox;
let canary: Canary;
let store: string;
let work: string;
beforeEach(async () => {
  sandbox = createSandbox();
  canary = layCanary(sandbox.path('home'));
  store = sandbox.path('store');
  work = sandbox.path('work');
  mkdirSync(work);
  await initWorkspace(testContext(work), { remoteUrl: store });
  writeFileSync(join(work, 'first'), 'first');
  await push(testContext(work), {});
});
afterEach(() => {
  sandbox?.[Symbol.dispose]();
});

/** Replaces a folder or an object by a link. @returns A function that puts back what was there. */
function layLink(draw: Draw): () => void {
  const keys = keysBelow(store, '');
  const name = draw.chance(60) || keys.length === 0 ? draw.of(FOLDERS) : draw.of(keys);
  const place = join(store, name);
  const aside = sandbox.path('aside');
  const isThere = existsSync(place);
  if (isThere) renameSync(place, aside);
  else mkdirSync(dirname(place), { recursive: true });
  const target = draw.of(['', 'sub', 'secret', 'writes']);
  symlinkSync(join(canary.root, target), place);
  return () => {
    // A command may have replaced the link by a file of its own.
    if (lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink()) unlinkSync(place);
    if (!isThere) return;
    rmSync(place, { recursive: true, force: true });
    mkdirSync(dirname(place), { recursive: true });
    renameSync(aside, place);
  };
}

const COMMANDS: Readonly<Record<string, (step: number) => Promise<unknown>>> = {
  push: (step) => {
    writeFileSync(join(work, `file-${step % 7}`), `content ${step}`);
    return push(testContext(work), {});
  },
  'push a large file': (step) => {
    writeFileSync(join(work, 'large'), Buffer.alloc(2 * 1024 * 1024, step));
    return push(testContext(work), {});
  },
  pull: () => pull(testContext(work), {}),
  clone: (step) => cloneWorkspace(testContext(sandbox.folder), { url: store, directory: `clone-${step}` }),
  verify: () => verify(testContext(work), { readDataPercent: 100 }),
  tag: (step) => tag(testContext(work), { name: `v${step % 3}`, force: true }),
};

it(
  `a hostile user of a shared repository reaches nothing in a home in ${STEPS.toLocaleString('en')} steps`,
  async () => {
    const draw = drawFrom(SEED);
    const outcomes = createOutcomes();
    for (let step = 0; step < STEPS; step += 1) {
      const takeAway = layLink(draw);
      const name = draw.of(Object.keys(COMMANDS));
      await outcomes.run(name, () => COMMANDS[name]!(step));
      takeAway();
      rmSync(sandbox.path(`clone-${step}`), { recursive: true, force: true });
      expect(canary.findTraces(), `step ${step}, ${name}`).toEqual([]);
    }
    const steps = `${STEPS.toLocaleString('en')} steps`;
    printRun(`hostile user of a repository: ${steps}`, canary, outcomes.counts());
    outcomes.expectDone(COMMANDS);
    // The refused commands must leave the repository whole.
    const { damaged, missing } = await verify(testContext(work), { readDataPercent: 100 });
    expect([damaged, missing]).toEqual([0, 0]);
  },
  TIMEOUT_MS,
);
