/** Runs the command in a process that ends itself by SIGKILL at a chosen step (`kill-at-step.ts`). */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { COMMAND } from '../../app/cli/command.fixture.ts';
import type { Sandbox } from '../../engine/jobs/session/job.fixture.ts';

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

/** @param step The change to the file system before which the process is killed, from 1. 0: never. */
export function runKilledAt(
  step: number,
  parameters: readonly string[],
  options: KilledRunOptions = {},
): Promise<KilledRun> {
  const child = spawn(process.execPath, ['--import', PRELOAD, COMMAND, ...parameters], {
    cwd: options.cwd,
    env: { ...process.env, DRAY_TEST_KILL_AT: `${step}`, ...options.environment },
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

/** Runs the command to its end and expects success. @returns The number of its steps. */
export async function countSteps(
  parameters: readonly string[],
  sandbox: Sandbox,
  options: KilledRunOptions = {},
): Promise<number> {
  const path = sandbox.path('steps');
  const environment = { ...options.environment, DRAY_TEST_STEPS: path };
  const run = await runKilledAt(0, parameters, { ...options, environment });
  expect(run, run.stderr).toMatchObject({ exitCode: 0 });
  return Number(readFileSync(path, 'utf8'));
}
