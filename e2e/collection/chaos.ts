/**
 * Pushers and collectors at work on one repository, each a process of the real command behind a proxy that
 * kills it at a random request. Notes what the pushes reported.
 */
import type { ChildProcess } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { cloneWorkspace } from '../../engine/jobs/pull/clone.ts';
import { describeTree } from '../../engine/jobs/trees/same-trees.fixture.ts';
import type { S3Dataset } from '../s3-dataset.ts';
import { type Draw, drawFrom } from '../seeded-draw.ts';
import { type Mishap, type MishapProxy, startMishapProxy } from './mishap-proxy.ts';

/** Few contents, so that one that was collected soon comes back. */
const CONTENTS = 24;
const SIZES = [200, 900, 2_500, 6_000, 15_000, 100_000];
const MISHAPS: readonly Mishap[] = ['dropped', 'unanswered', 'late', 'slow'];
/** A push sends about as many requests. */
const REQUESTS = 16;
/** After so many pushes and rounds go on those that wait. */
const EVENTS_UNTIL_RELEASE = 3;

export interface ChaosOptions {
  readonly endpoint: string;
  readonly seed: number;
  readonly branches: readonly string[];
  readonly pushers: number;
  readonly collectors: number;
  /** Of 100 runs of a command, those that a mishap meets. */
  readonly mishapPercent: number;
  /** Of 100 collections, those that a `forget` comes before. */
  readonly forgetPercent: number;
  /** Asked before each action. */
  readonly isEnough: (counts: ChaosCounts) => boolean;
}

export interface ChaosCounts {
  /** Pushes that reported a commit, and collections that removed something. */
  pushes: number;
  rounds: number;
  forgets: number;
  killedPushes: number;
  killedCollections: number;
  conflicts: number;
  readonly elapsedMs: number;
}

export interface ReportedPush {
  readonly branch: string;
  /** The branch's commit, and the one that has the workspace's own content. */
  readonly commit: string;
  readonly own: string;
  /** Of the workspace, by `describeTree`. */
  readonly tree: readonly string[];
}

export interface ChaosOutcome {
  readonly counts: ChaosCounts;
  readonly reported: readonly ReportedPush[];
}

/** The last record of `--json`. */
interface Summary {
  readonly type?: 'summary' | 'error';
  readonly result?: string;
  readonly code?: string;
  readonly commit?: string;
  readonly data?: { readonly reason?: string };
}

interface Run extends Summary {
  readonly isKilled: boolean;
}

interface Actor {
  readonly name: string;
  readonly proxy: MishapProxy;
  readonly draw: Draw;
  readonly home: string;
  made: number;
}

interface Chaos extends ChaosOutcome {
  readonly dataset: S3Dataset;
  readonly options: ChaosOptions;
  readonly reported: ReportedPush[];
  readonly actors: Actor[];
  /** Actors that have not ended. */
  working: number;
  isOver: boolean;
}

/** @throws when a command ends in another way than by success, a conflict or a kill */
export async function runChaos(dataset: S3Dataset, options: ChaosOptions): Promise<ChaosOutcome> {
  const startedMs = Date.now();
  const none = {
    pushes: 0,
    rounds: 0,
    forgets: 0,
    killedPushes: 0,
    killedCollections: 0,
    conflicts: 0,
    get elapsedMs() {
      return Date.now() - startedMs;
    },
  };
  const chaos: Chaos = {
    dataset,
    options,
    counts: none,
    reported: [],
    actors: [],
    working: 0,
    isOver: false,
  };
  await using stack = new AsyncDisposableStack();
  const { branches, collectors, endpoint, pushers, seed } = options;
  for (let at = 0; at < pushers + collectors; at += 1) {
    const name = at < pushers ? `pusher-${at}` : `collector-${at - pushers}`;
    const proxy = stack.use(await startMishapProxy(endpoint, () => void releaseIfStuck(chaos)));
    const home = branches[at % branches.length]!;
    await cloneWorkspace(dataset.context('.'), { url: dataset.url, directory: name, ref: home });
    chaos.actors.push({ name, proxy, draw: drawFrom(seed + at), home, made: 0 });
  }
  chaos.working = chaos.actors.length;
  const ends = await Promise.allSettled(chaos.actors.map((actor) => work(chaos, actor)));
  await release(chaos);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return chaos;
}

async function work(chaos: Chaos, actor: Actor): Promise<void> {
  try {
    while (!isOver(chaos))
      await (actor.name.startsWith('pusher') ? pushSomething(chaos, actor) : collect(chaos, actor));
  } finally {
    chaos.isOver = true;
    chaos.working -= 1;
    await releaseIfStuck(chaos);
  }
}

function isOver(chaos: Chaos): boolean {
  chaos.isOver ||= chaos.options.isEnough(chaos.counts);
  return chaos.isOver;
}

async function noteEvent(chaos: Chaos, kind: 'pushes' | 'rounds'): Promise<void> {
  chaos.counts[kind] += 1;
  if ((chaos.counts.pushes + chaos.counts.rounds) % EVENTS_UNTIL_RELEASE === 0) await release(chaos);
}

/** Nothing happens any more when all wait. */
async function releaseIfStuck(chaos: Chaos): Promise<void> {
  const waiting = chaos.actors.reduce((sum, { proxy }) => sum + proxy.waiting(), 0);
  if (chaos.isOver || waiting >= chaos.working) await release(chaos);
}

async function release({ actors }: Chaos): Promise<void> {
  await Promise.all(actors.map(({ proxy }) => proxy.release()));
}

async function collect(chaos: Chaos, actor: Actor): Promise<void> {
  const { counts, options } = chaos;
  if (actor.draw.chance(options.forgetPercent)) {
    const forget = ['forget', '--keep-last', `${actor.draw.of([3, 8, 20])}`];
    const { isKilled, type } = await run(chaos, actor, forget);
    if (!isKilled && type === 'error') throw unexpected(actor, forget, type);
    if (!isKilled) counts.forgets += 1;
  }
  const collected = await run(chaos, actor, ['gc', '--grace', '0s']);
  const { isKilled, result } = collected;
  if (!isKilled && collected.type === 'error') throw unexpected(actor, ['gc'], collected);
  if (isKilled) counts.killedCollections += 1;
  else if (result === 'collected') await noteEvent(chaos, 'rounds');
}

async function pushSomething(chaos: Chaos, actor: Actor): Promise<void> {
  const { draw, home, name } = actor;
  const choice = draw.below(100);
  if (choice < 70) {
    await editAndPush(chaos, actor, home);
  } else if (choice < 90) {
    // A branch that is made, pushed to and removed again leaves content that nobody needs.
    const scratch = `scratch/${name}-${actor.made++}`;
    if (!(await mustRun(chaos, actor, ['switch', '-c', scratch], { ifTaken: ['switch', scratch] }))) return;
    await editAndPush(chaos, actor, scratch);
    await mustRun(chaos, actor, ['switch', home]);
    await mustRun(chaos, actor, ['branch', '-d', scratch], { ifGone: ['branch'] });
  } else {
    await mustRun(chaos, actor, ['tag', `${name}-${actor.made++}`], { ifTaken: ['tag'] });
  }
}

/** Until the changes are on the branch. */
async function editAndPush(chaos: Chaos, actor: Actor, branch: string): Promise<void> {
  const root = chaos.dataset.sandbox.path(actor.name);
  editTree(chaos, actor);
  for (;;) {
    const tree = describeTree(root, { times: false });
    const pushed = await run(chaos, actor, ['push']);
    if (pushed.isKilled) chaos.counts.killedPushes += 1;
    if (pushed.result === 'pushed') {
      const state = JSON.parse(readFileSync(`${root}/.dray/state.json`, 'utf8'));
      const [own] = Object.values(state.bases) as string[];
      if (branch === actor.home) chaos.reported.push({ branch, commit: pushed.commit!, own: own!, tree });
      await noteEvent(chaos, 'pushes');
    }
    if (pushed.type === 'summary') return;
    if (pushed.isKilled) continue;
    if (pushed.code !== 'conflict') throw unexpected(actor, ['push'], pushed);
    chaos.counts.conflicts += 1;
    await mustRun(chaos, actor, ['pull', actor.draw.of(['--ours', '--theirs'])]);
  }
}

/** Writes and removes a few files: most of them the actor's own, some that others change as well. */
function editTree({ dataset: { sandbox } }: Chaos, { draw, name }: Actor): void {
  for (let edits = 1 + draw.below(5); edits > 0; edits -= 1) {
    const path = `${name}/${draw.chance(15) ? 'shared' : name}/f${draw.below(8)}`;
    if (draw.chance(20)) {
      rmSync(sandbox.path(path), { force: true });
      continue;
    }
    sandbox.write(path, contentOf(draw.below(CONTENTS)));
  }
}

/** Every second one does not compress. */
function contentOf(number: number): Buffer {
  const sizeBytes = SIZES[Math.floor(number / 2) % SIZES.length]!;
  return number % 2 === 0
    ? Buffer.alloc(sizeBytes, `content ${number}. `)
    : drawFrom(number).noise(sizeBytes);
}

/**
 * Runs a command until it has succeeded.
 * @returns False if a collection is under way that may remove the commit, or has done so.
 * @param ifTaken, ifGone Instead of it, if it made or removed the name before it was killed.
 */
async function mustRun(
  chaos: Chaos,
  actor: Actor,
  parameters: readonly string[],
  { ifGone, ifTaken }: { readonly ifGone?: readonly string[]; readonly ifTaken?: readonly string[] } = {},
): Promise<boolean> {
  let wasKilled = false;
  for (let current = parameters; ; ) {
    const ran = await run(chaos, actor, current);
    if (ran.type === 'summary') return true;
    if (!ran.isKilled && ran.data?.reason === 'collected') return false;
    if (!ran.isKilled) {
      const instead = ran.code === 'conflict' ? ifTaken : ran.code === 'notFound' ? ifGone : undefined;
      if (!wasKilled || !instead || current === instead) throw unexpected(actor, current, ran);
      current = instead;
    }
    wasKilled = true;
  }
}

function unexpected({ name }: Actor, parameters: readonly string[], ran: unknown): Error {
  return new Error(`${name}: dray ${parameters.join(' ')}: ${JSON.stringify(ran)}`);
}

async function run(chaos: Chaos, actor: Actor, parameters: readonly string[]): Promise<Run> {
  const { dataset, options } = chaos;
  const { draw, name, proxy } = actor;
  let child: ChildProcess | undefined;
  if (!chaos.isOver && draw.chance(options.mishapPercent))
    proxy.arm(draw.of(MISHAPS), 1 + draw.below(REQUESTS), () => child?.kill('SIGKILL'));
  const environment = { AWS_ENDPOINT_URL: proxy.endpoint, DRAY_CACHE: dataset.sandbox.path('cache') };
  const { exitCode, stderr, stdout } = await dataset.cli(name, ['--json', ...parameters], {
    environment,
    onStarted: (started) => {
      child = started;
    },
  });
  proxy.disarm();
  const isKilled = exitCode === null;
  const summary = summaryOf(stdout);
  if (!isKilled && !summary.type) throw unexpected(actor, parameters, { exitCode, stdout, stderr });
  return { ...summary, isKilled };
}

/** A killed process may have written a part of a line. */
function summaryOf(stdout: string): Summary {
  const line = stdout.slice(0, stdout.lastIndexOf('\n')).split('\n').at(-1);
  const record = line ? (JSON.parse(line) as Summary) : {};
  return record.type === 'summary' || record.type === 'error' ? record : {};
}
