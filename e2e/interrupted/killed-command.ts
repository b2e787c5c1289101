/** Runs the command in a process that ends itself by SIGKILL at a chosen step (`kill-at-step.ts`). */
import { type ChildProcess, spawn } from 'node:child_process';
import { expect } from 'vitest';
import { COMMAND } from '../../app/cli/command.fixture.ts';
import { sweepSteps } from '../../engine/base/sweep-steps.fixture.ts';

const PRELOAD = new URL('./kill-at-step.ts', import.meta.url).href;

export interface KilledRun {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface KilledRunOptions {
  readonly cwd?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly input?: string | Uint8Array;
  readonly onStarted?: (child: ChildProcess) => void;
}

/**
 * @param step The change to the file system before which the process is killed: its number from 1, or the
 * first whose text (`kill-at-step.ts`) this matches. 0: never.
 */
function runKilledAt(
  step: number | RegExp,
  parameters: readonly string[],
  options: KilledRunOptions = {},
): Promise<KilledRun> {
  const child = spawn(process.execPath, ['--import', PRELOAD, COMMAND, ...parameters], {
    cwd: options.cwd,
    env: {
      ...process.env,
      DRAY_TEST_KILL_AT: typeof step === 'number' ? `${step}` : step.source,
      ...options.environment,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  // The command may end before it has read all of its input.
  child.stdin.on('error', () => {});
  child.stdin.end(options.input);
  options.onStarted?.(child);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (exitCode, signal) => resolve({ exitCode, signal, stdout, stderr }));
  });
}

/** Runs the command to its end and expects success. */
export async function runWhole(
  parameters: readonly string[],
  options: KilledRunOptions = {},
): Promise<KilledRun> {
  const run = await runKilledAt(0, parameters, options);
  expect(run, run.stderr).toMatchObject({ exitCode: 0 });
  return run;
}

/** Steps of many commands, for `KillSweep.important`. */
export const STEPS = {
  /** The workspace has a new base, scope or remote. */
  stateWritten: /^rename .*\/\.dray\/state\.json\.new .*\/state\.json$/,
  /** A command on a workspace has done everything. */
  unlocked: /^rm .*\/\.dray\/lock$/,
  /** What was written is not synced yet, and then it is. */
  marked: /^open .*\/unsynced-\S+ wx$/,
  unmarked: /^rm .*\/unsynced-\S+$/,
  /** The branch of a repository in a folder moves. */
  branchMoved: /^(link|rename) .*\/main$/,
} as const;

export interface KillSweep {
  readonly parameters: readonly string[];
  readonly options?: KilledRunOptions;
  /** Kills before steps 1, 1 + stride, 1 + 2 * stride, ..., until a run ends by itself. */
  readonly stride: number;
  /** The least number of such kills. */
  readonly least: number;
  /** Also kills before the first step of each of these kinds, whatever its number. */
  readonly important: readonly RegExp[];
  /** Makes what each run starts with. */
  readonly begin: () => void | Promise<void>;
  /**
   * Checks what a kill has left.
   *
   * @param where Says which kill this was.
   * @param kills The number of kills so far, from 1.
   */
  readonly check: (where: string, kills: number) => Promise<void>;
}

/** Kills the command before one step after the other. */
export async function sweepKills(sweep: KillSweep): Promise<void> {
  const { begin, check, important, least, options, parameters, stride } = sweep;
  let kills = 0;
  const killAt = async (step: number | RegExp): Promise<boolean> => {
    await begin();
    const run = await runKilledAt(step, parameters, options);
    const where = `killed before ${typeof step === 'number' ? `step ${step}` : `the step ${step}`}`;
    if (run.signal === null) expect(run, `not ${where}: ${run.stderr}`).toMatchObject({ exitCode: 0 });
    if (run.signal === null) return false;
    expect(run.signal, where).toBe('SIGKILL');
    kills += 1;
    await check(where, kills);
    return true;
  };
  for (const step of important) expect(await killAt(step), `a run took the step ${step}`).toBe(true);
  await sweepSteps(killAt, { stride, least });
}
