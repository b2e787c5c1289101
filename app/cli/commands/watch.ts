/** `dray watch`: pushes or syncs a folder whenever it has changed, in the foreground. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { DrayError } from '../../../engine/api/error.ts';
import { systemClock } from '../../../engine/base/clock.ts';
import { watchFolder } from '../../../engine/files/watch/watch-folder.ts';
import { type CommandHost, type RunObserver, usageError } from '../command-host.ts';
import { addExamples } from '../options/examples.ts';
import { globalWords, readGlobalOptions } from '../options/global-options.ts';
import { parsePause } from '../options/parse-pause.ts';
import { createOutput, type Output } from '../output/output.ts';
import { quotePath } from '../output/terminal-text.ts';
import { watchStopSignals } from '../stop-signals.ts';

interface WatchOptions {
  readonly push?: true;
  readonly sync?: string;
  readonly message?: string;
  readonly settle?: number;
}

const SETTLE = { minMs: 1_000, maxMs: 3_600_000 };
const SETTLE_MS = 2_000;
/** The pause after a failed run, such as without a network. */
const RETRY_MS = 60_000;
/** The time that a push or a sync has to stop. */
const GRACE_MS = 10_000;
const SHOWN_PATHS_MAX = 20;

export function addWatchCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('watch')
    .summary('push or sync a folder whenever it changes')
    .description(
      'Watches a folder until it is stopped. With --push it pushes the workspace, with --sync it makes the destination identical to the folder: once at the start, and again when the folder is quiet after a change. A run that failed is repeated after a minute. Without either, it prints what changes.',
    )
    .argument('[folder]', 'the folder to watch (default: this folder)')
    .option('--push', 'push the workspace')
    .option('--sync <destination>', 'sync the folder to this place')
    .option('-m, --message <text>', 'with --push: the message of each commit')
    .option('--settle <time>', 'wait until nothing has changed for this time (default: 2s)', (text) =>
      parsePause(text, SETTLE),
    )
    .action((folder: string | undefined, options: WatchOptions, self: Command) =>
      watch(host, self, folder, options),
    );
  addExamples(command, [
    ['dray watch --push -m "automatic"', 'in a workspace'],
    ['dray watch photos --sync s3://bucket/photos --settle 30s', 'a folder to a bucket'],
  ]);
}

async function watch(
  host: CommandHost,
  self: Command,
  folder: string | undefined,
  { message, push, settle = SETTLE_MS, sync }: WatchOptions,
): Promise<void> {
  const options = readGlobalOptions(self);
  if (push && sync !== undefined) throw usageError('Give --push or --sync, not both.');
  if (message !== undefined && !push) throw usageError('--message belongs to --push.');
  const root = resolve(options.directory, folder ?? '.');
  const words = push
    ? ['push', '-C', root, ...(message === undefined ? [] : ['--message', message])]
    : sync === undefined
      ? undefined
      : ['sync', '-C', options.directory, '--', root, sync];
  const output = createOutput({ ...options, environment: host.environment });
  const stops = watchStopSignals({ exit: host.exit, onFirst: () => {}, graceMs: GRACE_MS });
  try {
    const isThere = Promise.withResolvers<void>();
    let news = Promise.withResolvers<void>();
    await watchFolder({
      root,
      settleMs: settle,
      signal: stops.signal,
      onChange: (paths) => {
        if (!words) showChanges(output, paths);
        news.resolve();
      },
      onLost: (isWatched) => {
        if (isWatched) news.resolve();
        else isThere.reject(cannotWatch(root));
      },
    });
    isThere.resolve();
    await isThere.promise;
    if (!words) output.note(`Watching ${quotePath(root)}. Ctrl-C stops.`);
    while (!stops.signal.aborted) {
      news = Promise.withResolvers();
      const isDone = words ? await runOnce(host, [...globalWords(self), ...words]) : true;
      if (stops.signal.aborted) break;
      const pause = new AbortController();
      const retry = isDone ? [] : [systemClock.sleep(RETRY_MS, pause.signal).catch(() => {})];
      const stopped = new Promise<void>((done) =>
        stops.signal.addEventListener('abort', () => done(), { once: true, signal: pause.signal }),
      );
      await Promise.race([news.promise, stopped, ...retry]);
      pause.abort();
    }
    host.exitCode = stops.exitCode() ?? 0;
  } finally {
    await output.close();
    stops.dispose();
  }
}

function cannotWatch(root: string): DrayError {
  return new DrayError(
    'notFound',
    `${root} cannot be watched. It must be a folder, and the system must have a watch left for each folder in it (on Linux: fs.inotify.max_user_watches).`,
    { data: { path: root } },
  );
}

/** Runs the words as a command line. Resolves to false if it failed. */
async function runOnce(host: CommandHost, words: readonly string[]): Promise<boolean> {
  let isDone = false;
  const observer: RunObserver = {
    event: () => {},
    ended: ({ exitCode }) => {
      isDone = exitCode === 0;
    },
  };
  // A run must not end the process of the watch, nor set its exit code.
  const inner: CommandHost = { environment: host.environment, exit: () => {}, exitCode: 0, observer };
  await host.build!(inner).parseAsync([...words], { from: 'user' });
  return isDone;
}

function showChanges(output: Output, paths: ReadonlySet<string> | undefined): void {
  if (output.json) output.record({ type: 'watch', ...(paths ? { paths: [...paths] } : {}) });
  if (!paths) output.result('many files changed');
  const all = [...(paths ?? [])];
  const shown = all.slice(0, SHOWN_PATHS_MAX);
  for (const path of shown) output.result(`changed  ${quotePath(path)}`);
  if (all.length > shown.length) output.result(`and ${all.length - shown.length} more`);
}
