/**
 * Reads files fast: each one once, hashed and cut into chunks on the way, in threads when there is enough
 * work.
 *
 * - Results come in batches, in no order between files; a file's chunks come in order, followed by its
 *   `chunked`.
 * - Each request ends in exactly one of `whole`, `chunked` and `failed`, unless the run fails or is stopped.
 * - The consumer releases each batch when it has finished with its bytes. Unreleased batches count against
 *   `memory`, and reading pauses when that is used up. `break` or an abort stops the threads and returns
 *   their memory.
 *
 * Fails with `aborted`, or with `internal` when a thread dies. A failure of one file is a result.
 */
import { availableParallelism } from 'node:os';
import { createInlineRunner } from './inline-reader.ts';
import { INLINE_BYTES_MAX, INLINE_REQUESTS_MAX, WHOLE_READ_BYTES_MAX } from './read-limits.ts';
import { createReadMemory } from './read-memory.ts';
import { type ReadRequests, type ReadTask, type TaskRunner, tasksOf } from './read-tasks.ts';
import { createReadRun, type ReadRun } from './reader-run.ts';
import type { FileReaderOptions, ReadBatch, ReadRequest, ReadResult } from './reader-types.ts';

export { type FileReaderOptions, type ReadBatch, type ReadRequest, type ReadResult, WHOLE_READ_BYTES_MAX };

const THREADS_MAX = 8;

export async function* readFiles(
  requests: ReadRequests,
  options: FileReaderOptions,
): AsyncGenerator<ReadBatch, void, undefined> {
  const { root, layout, wantBytes } = options;
  const settings = { root: root.endsWith('/') ? root : `${root}/`, layout, wantBytes };
  const memory = createReadMemory(options.memory, settings);
  const run = createReadRun(settings, memory, options.signal);
  const work = readAll(requests, run, options.threads ?? Math.min(THREADS_MAX, availableParallelism()));
  try {
    for (;;) {
      const batch = await run.next();
      if (batch === undefined) break;
      yield batch;
    }
  } finally {
    run.close();
    await work;
  }
}

/** Never rejects: the run passes a failure to the consumer. */
async function readAll(requests: ReadRequests, run: ReadRun, threadCount: number): Promise<void> {
  let runner: TaskRunner | undefined;
  try {
    const tasks = tasksOf(requests, run.settings, run.signal);
    try {
      const first = threadCount > 0 ? await lookAhead(tasks) : { tasks: [], isAll: true };
      runner = await startRunner(run, first.isAll ? 0 : threadCount);
      for (const task of first.tasks) await runner.start(task);
      for await (const task of tasks) await runner.start(task);
    } finally {
      await tasks.return(undefined);
    }
    await runner.finish();
    // Files of another size than expected; each returns here a few times at most.
    while (run.resized.length > 0) {
      for await (const task of tasksOf(run.resized.splice(0), run.settings, run.signal))
        await runner.start(task);
      await runner.finish();
    }
    run.end();
  } catch (error) {
    run.fail(error);
  } finally {
    await runner?.close();
  }
}

interface LookAhead {
  readonly tasks: readonly ReadTask[];
  /** No task follows them. */
  readonly isAll: boolean;
}

/** The first tasks, until they are too much work for the calling thread or there are no more. */
async function lookAhead(tasks: AsyncGenerator<ReadTask>): Promise<LookAhead> {
  const seen: ReadTask[] = [];
  let requestCount = 0;
  let sizeBytes = 0;
  while (requestCount <= INLINE_REQUESTS_MAX && sizeBytes <= INLINE_BYTES_MAX) {
    const step = await tasks.next();
    if (step.done) return { tasks: seen, isAll: true };
    const task = step.value;
    seen.push(task);
    requestCount += task.kind === 'batch' ? task.requests.length : 1;
    sizeBytes += task.kind === 'batch' ? task.sizeBytes : task.request.sizeBytes;
  }
  return { tasks: seen, isAll: false };
}

async function startRunner(run: ReadRun, threadCount: number): Promise<TaskRunner> {
  if (threadCount === 0) return createInlineRunner(run);
  const { createThreadRunner } = await import('./reader-threads.ts');
  return createThreadRunner(run, threadCount);
}
