/** Runs commands in this process, and reads what they have written into the model. */
import { DrayError } from '../../../engine/api/error.ts';
import { type TestContext, testContext } from '../../../engine/jobs/session/job.fixture.ts';
import { type RunFault, runWithFault } from './run-faults.ts';
import { learnCommit } from './stored-history.ts';
import { beforeCommand, isWorkspace, pendingOf, stateOf, type Workspace, type World } from './world.ts';

/** How a command ended. */
export interface Outcome<T> {
  readonly value: T | undefined;
  readonly error: DrayError | undefined;
  /** Its fault had an effect. */
  readonly isMet: boolean;
  readonly context: TestContext;
  readonly newCommits: readonly string[];
}

/** Runs a command with a fault, and reads the commits that it has written. */
export async function attempt<T>(
  world: World,
  w: Workspace,
  { directory = w.root, fault }: { readonly fault: RunFault; readonly directory?: string },
  job: (context: TestContext) => Promise<T>,
): Promise<Outcome<T>> {
  beforeCommand(world, w);
  let outcome: Pick<Outcome<T>, 'value' | 'error' | 'context'> | undefined;
  let isMet = false;
  await runWithFault(w.root, fault, async (run) => {
    const { signal } = run;
    const context = testContext(directory, { signal, environment: { DRAY_AUTHOR: w.name } });
    outcome = await outcomeOf(context, job);
    isMet = run.isMet;
    if (run.isKilled) outcome = { ...outcome, value: undefined, error: new DrayError('aborted', 'Killed.') };
  });
  if (w.unconfirmed && isWorkspace(w)) noteSettled(w);
  return { ...outcome!, isMet, newCommits: await learnWritten(world) };
}

/** The command has found that an earlier push had succeeded, and goes on from there. */
export function noteSettled(w: Workspace): void {
  const pending = pendingOf(w);
  const isSame = pending?.commit === w.merging?.commit && pending?.kind === w.merging?.kind;
  if (w.merging && !isSame) w.merging = undefined;
  const base = stateOf(w).bases.origin;
  if (w.arriving.size > 0 || w.isFuzzy || !w.unconfirmed?.onBase.includes(base!)) return;
  w.base = base;
  w.unconfirmed = undefined;
  // What is pending now is of this command.
  w.merging = undefined;
}

export async function outcomeOf<T>(
  context: TestContext,
  job: (context: TestContext) => Promise<T>,
): Promise<Pick<Outcome<T>, 'value' | 'error' | 'context'>> {
  try {
    return { value: await job(context), error: undefined, context };
  } catch (error) {
    if (!(error instanceof DrayError)) throw error;
    return { value: undefined, error, context };
  }
}

export async function learnWritten(world: World): Promise<readonly string[]> {
  const { written } = world;
  world.written = [];
  const hashes: string[] = [];
  for (const hash of written) if (await learnCommit(world, hash)) hashes.push(hash);
  return hashes;
}
