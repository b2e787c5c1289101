/** Runs the command at a terminal, by util-linux's `script`, and types answers. */
import { spawn, spawnSync } from 'node:child_process';
import { COMMAND } from '../app/cli/command.fixture.ts';

/** Why no terminal is available, or undefined where one is. */
export const whyNoTerminal: string | undefined = findWhyNot();

export interface TerminalOptions {
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** The text to type when the output ends like this, in order. */
  readonly answers: readonly (readonly [RegExp, () => string])[];
}

export interface TerminalRun {
  readonly exitCode: number | null;
  /** Everything that the terminal showed. */
  readonly output: string;
}

export function runAtTerminal(
  parameters: readonly string[],
  { answers, cwd, environment }: TerminalOptions,
): Promise<TerminalRun> {
  const { FORCE_COLOR: _, NO_COLOR: __, ...own } = process.env;
  const line = [process.execPath, COMMAND, ...parameters].map(quote).join(' ');
  const child = spawn('script', ['-qec', line, '/dev/null'], {
    cwd,
    env: { ...own, TERM: 'dumb', ...environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const waiting = [...answers];
  let output = '';
  let failure: unknown;
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
    if (!waiting[0]?.[0].test(output)) return;
    try {
      child.stdin.write(waiting.shift()![1]());
    } catch (error) {
      failure = error;
      child.kill();
    }
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (exitCode) => {
      if (failure) reject(failure);
      else resolve({ exitCode, output });
    });
  });
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function findWhyNot(): string | undefined {
  const { stdout } = spawnSync('script', ['--version'], { encoding: 'utf8' });
  return stdout?.includes('util-linux') ? undefined : "needs util-linux's script";
}
