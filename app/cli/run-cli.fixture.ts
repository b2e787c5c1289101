/** Runs the command, or another script, in a process of its own. For tests. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { COMMAND } from './command.fixture.ts';

export interface CliResult {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly cwd?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** A file beside this one, or an absolute path; default: the command itself. */
  readonly script?: string;
  /** Default: none. */
  readonly standardInput?: string;
  readonly onStarted?: (child: ChildProcess) => void;
}

/** The line that a log gets for a phase of a second or more, which depends on the machine. */
const PHASE_END =
  /^(?:scanned|hashed|compared|uploaded|downloaded|wrote|removed|committed|verified|marked): .* in [\d.:]+ ?\w*\n/gm;

export function runCli(parameters: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const script = options.script ? fileURLToPath(new URL(options.script, import.meta.url)) : COMMAND;
  // Settings of the tests' own terminal or runner must not reach the command.
  const { FORCE_COLOR: _, NO_COLOR: __, ...environment } = process.env;
  const child = spawn(process.execPath, [script, ...parameters], {
    cwd: options.cwd,
    env: { ...environment, ...options.environment },
    stdio: [options.standardInput === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  // The process may end without reading its input.
  child.stdin?.on('error', () => {}).end(options.standardInput);
  child.stdout!.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  child.stderr!.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  options.onStarted?.(child);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (exitCode) => resolve({ exitCode, stdout, stderr: stderr.replace(PHASE_END, '') }));
  });
}
