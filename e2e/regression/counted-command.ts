/**
 * Runs the published command and counts what it does: its calls, the kernel's calls, and its traffic with a
 * server.
 */
import { spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { buildCommand } from '../../app/build/build.ts';
import type { CallCounts } from './call-counts.ts';
import { findWhyNotTraced, type KernelCounts, parseStraceSummary, straceCommand } from './kernel-calls.ts';

export interface CountedCommand {
  /** Why the kernel's calls are not counted, or undefined where they are. */
  readonly whyNotTraced: string | undefined;
  /** @throws Error with its output when the exit code is not 0. */
  run(parameters: readonly string[], place: CommandPlace): Promise<CountedRun>;
  /** Starts `dray serve` on a free port. The kernel's calls of a server are not counted. */
  serve(folder: string, place: CommandPlace & { readonly tokenFile: string }): Promise<CountedServer>;
}

export interface CommandPlace {
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
}

export interface CountedRun {
  readonly calls: CallCounts;
  readonly kernel: KernelCounts | undefined;
  readonly output: string;
}

export interface CountedServer {
  readonly port: number;
  /** Stops the server and returns its counts. */
  stop(): Promise<CallCounts>;
}

const PROGRAM = fileURLToPath(new URL('../../dist/', import.meta.url));

/** @param folder For the files of the counters. */
export async function openCountedCommand(folder: string): Promise<CountedCommand> {
  // `npm test` has built it.
  if (process.env.DRAY_TEST_COMMAND === undefined) await buildCommand(PROGRAM);
  const preload = join(folder, 'count-calls.mjs');
  await build({
    entryPoints: [fileURLToPath(new URL('count-calls.ts', import.meta.url))],
    outfile: preload,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'warning',
  });
  const notes = {
    calls: join(folder, 'calls.json'),
    kernel: join(folder, 'kernel.txt'),
    served: join(folder, 'served.json'),
  };
  const whyNotTraced = await findWhyNotTraced();
  const start = (command: readonly string[], { cwd, environment }: CommandPlace, countsFile: string) => {
    const [file = '', ...args] = command;
    const { FORCE_COLOR: _, NO_COLOR: __, ...own } = process.env;
    return spawn(file, args, {
      cwd,
      env: {
        ...own,
        ...environment,
        DRAY_COUNTS_FILE: countsFile,
        NODE_OPTIONS: `--import=${pathToFileURL(preload).href}`,
        // A compile cache from an earlier run would change which files are read.
        NODE_DISABLE_COMPILE_CACHE: '1',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  };
  const dray = (parameters: readonly string[]) => [process.execPath, join(PROGRAM, 'dray.js'), ...parameters];
  return {
    whyNotTraced,
    async run(parameters, place) {
      await rm(notes.calls, { force: true });
      const traced = whyNotTraced === undefined ? straceCommand(notes.kernel) : [];
      const child = start([...traced, ...dray(parameters)], place, notes.calls);
      let output = '';
      let errors = '';
      child.stdout.on('data', (text) => {
        output += text;
      });
      child.stderr.on('data', (text) => {
        errors += text;
      });
      const exitCode = await new Promise((resolve, reject) => {
        child.once('error', reject);
        child.once('close', resolve);
      });
      if (exitCode !== 0)
        throw new Error(`dray ${parameters.join(' ')} ended with ${exitCode}: ${output}${errors}`);
      return {
        calls: JSON.parse(await readFile(notes.calls, 'utf8')),
        kernel: traced.length > 0 ? parseStraceSummary(await readFile(notes.kernel, 'utf8')) : undefined,
        output,
      };
    },
    async serve(served, place) {
      await rm(notes.served, { force: true });
      const parameters = [
        'serve',
        served,
        '--listen',
        '127.0.0.1:0',
        '--token-file',
        place.tokenFile,
        '--tls',
        'off',
        '--json',
      ];
      const child = start(dray(parameters), place, notes.served);
      const ended = new Promise((resolve) => child.once('close', resolve));
      const ready = await new Promise<string>((resolve, reject) => {
        child.stdout.once('data', (line) => resolve(String(line)));
        child.once('close', (code) => reject(new Error(`dray serve ended with ${code} before it served.`)));
      });
      return {
        port: Number(new URL(JSON.parse(ready).url).port),
        async stop() {
          child.kill('SIGTERM');
          await ended;
          return JSON.parse(await readFile(notes.served, 'utf8'));
        },
      };
    },
  };
}
