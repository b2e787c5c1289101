/**
 * A hostile store answers the client's commands. No answer makes the client read, list or change anything
 * outside its own folders. Every failure has an error code that Dray knows, and every command ends.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { verify } from '../../engine/jobs/history/verify.ts';
import { usage } from '../../engine/jobs/one-place/disk-usage.ts';
import { listPlace } from '../../engine/jobs/one-place/list-place.ts';
import { cloneWorkspace } from '../../engine/jobs/pull/clone.ts';
import { pull } from '../../engine/jobs/pull/pull.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import {
  createSandbox,
  type Sandbox,
  type TestContext,
  testContext,
} from '../../engine/jobs/session/job.fixture.ts';
import { checkTrees } from '../../engine/jobs/trees/check/check-trees.ts';
import { copyTree, syncTree } from '../../engine/jobs/trees/copy-tree.ts';
import { describeTree } from '../../engine/jobs/trees/same-trees.fixture.ts';
import { type Draw, drawFrom } from '../seeded-draw.ts';
import { layCanary } from './canary.ts';
import { type HostileStore, startHostileStore } from './hostile-store.ts';
import { createOutcomes, printRun, refuseUnforeseen, skipPauses } from './outcomes.ts';

const SEED = 20_261_123;
const STEPS = Number(process.env.DRAY_ADVERSARY_STEPS ?? runBudget({ short: 150, long: 3_000 }));
const LANES = 4;
const TIMEOUT_MS = 7_200_000;
/** An honest store answers any of these commands in a fiftieth of this. */
const ANSWERS_PER_COMMAND_MAX = 5_000;

interface Lane {
  readonly draw: Draw;
  readonly store: HostileStore;
  /** Returns a path in this lane's own folder. */
  readonly path: (name: string) => string;
  readonly contextOf: (directory: string) => TestContext;
  readonly there: { readonly place: string };
  readonly repository: string;
}

const ALL = { percent: 100 } as const;
type Command = (lane: Lane) => Promise<unknown>;
const COMMANDS: Readonly<Record<string, Command>> = {
  push: ({ contextOf, draw, path }) => {
    writeFileSync(path(`work/new-${draw.below(5)}`), `new ${draw.below(99)}`);
    return push(contextOf(path('work')), {});
  },
  pull: ({ contextOf, path }) => pull(contextOf(path('other')), {}),
  clone: ({ contextOf, path, repository }) => {
    rmSync(path('clone'), { recursive: true, force: true });
    return cloneWorkspace(contextOf(path('')), { url: repository, directory: 'clone' });
  },
  verify: ({ contextOf, path }) => verify(contextOf(path('work')), { readDataPercent: 100 }),
  'copy here': ({ contextOf, path, there }) =>
    copyTree(contextOf(path('')), { source: there, destination: { place: path('target') } }),
  'sync here': ({ contextOf, path, there }) =>
    syncTree(contextOf(path('')), { source: there, destination: { place: path('target') }, maxDelete: ALL }),
  'copy there': ({ contextOf, path, there }) =>
    copyTree(contextOf(path('')), { source: { place: path('source') }, destination: there }),
  'sync there': ({ contextOf, path, there }) =>
    syncTree(contextOf(path('')), { source: { place: path('source') }, destination: there, maxDelete: ALL }),
  check: ({ contextOf, path, there }) =>
    checkTrees(contextOf(path('')), { source: there, destination: { place: path('source') } }),
  ls: ({ contextOf, path, there }) => listPlace(contextOf(path('')), { ...there, recursive: true }),
  du: ({ contextOf, path, there }) => usage(contextOf(path('')), there),
};

it(
  `a client of a hostile store stays inside its folders through ${STEPS.toLocaleString('en')} answers`,
  async () => {
    using sandbox = createSandbox();
    using _pauses = skipPauses();
    const canary = layCanary(sandbox.path('outside'));
    const outcomes = createOutcomes();
    const lanes = await Promise.all(
      Array.from({ length: LANES }, (_, at) => openLane(sandbox, canary.root, at)),
    );
    const sources = lanes.map(({ path }) => describeTree(path('source')));
    const answers = () => lanes.reduce((sum, { store }) => sum + store.answered(), 0);
    const runLane = async (lane: Lane) => {
      while (answers() < STEPS) {
        const name = lane.draw.of(Object.keys(COMMANDS));
        lane.store.percent = lane.draw.of([0, 5, 30, 90]);
        await outcomes.run(name, () => runBounded(name, lane));
      }
    };
    await Promise.all(lanes.map(runLane));
    const changed = lanes.reduce((sum, { store }) => sum + store.changed(), 0);
    const work = `${answers().toLocaleString('en')} answers, ${changed.toLocaleString('en')} of them changed`;
    printRun(`hostile store: ${work}`, canary, outcomes.counts());
    for (const { store } of lanes) await store.close();
    expect(canary.findTraces()).toEqual([]);
    expect(lanes.map(({ path }) => describeTree(path('source')))).toEqual(sources);
    expect(readdirSync(sandbox.folder).sort()).toEqual([...Object.keys(lanes), 'outside']);
    outcomes.expectDone(COMMANDS);
  },
  TIMEOUT_MS,
);

async function openLane(sandbox: Sandbox, outside: string, at: number): Promise<Lane> {
  const draw = drawFrom(SEED + at);
  const store = await startHostileStore(draw, outside);
  const path = (name: string) => sandbox.path(`${at}/${name}`);
  const environment = {
    ...store.environment,
    DRAY_AUTHOR: 'tester',
    DRAY_CACHE: path('cache'),
    DRAY_CONFIG: path('config'),
  };
  const { bucket } = store.honest;
  const repository = `s3://${bucket}/repository`;
  const contextOf = (directory: string) => testContext(directory, { environment, emit: refuseUnforeseen });
  for (const name of ['target', 'source/d', 'work', 'other']) mkdirSync(path(name), { recursive: true });
  for (let file = 0; file < 5; file += 1) {
    sandbox.write(`${at}/source/d/${file}`, `mine ${file}`);
    sandbox.write(`${at}/work/d/${file}`, `work ${file}`);
    store.honest.objects.set(`tree/theirs/${file}`, Buffer.from(`theirs ${file}`));
  }
  sandbox.write(`${at}/work/large`, Buffer.alloc(1_200_000, 'l'));
  await initWorkspace(contextOf(path('work')), { remoteUrl: repository });
  await push(contextOf(path('work')), {});
  rmSync(path('other'), { recursive: true });
  await cloneWorkspace(contextOf(path('')), { url: repository, directory: 'other' });
  return { draw, store, path, contextOf, there: { place: `s3://${bucket}/tree` }, repository };
}

/** @throws When the command never stops sending requests. */
async function runBounded(name: string, lane: Lane): Promise<void> {
  const before = lane.store.answered();
  const stop = new AbortController();
  const watch = setInterval(() => {
    if (lane.store.answered() - before > ANSWERS_PER_COMMAND_MAX) stop.abort();
  }, 100);
  const contextOf = (directory: string) => ({ ...lane.contextOf(directory), signal: stop.signal });
  try {
    await COMMANDS[name]!({ ...lane, contextOf });
  } finally {
    clearInterval(watch);
    expect(stop.signal.aborted, `"${name}" did not end after ${ANSWERS_PER_COMMAND_MAX} answers.`).toBe(
      false,
    );
  }
}
