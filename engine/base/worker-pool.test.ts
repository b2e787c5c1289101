import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { createWorkerPool, type WorkerPool } from './worker-pool.ts';

/** Doubles numbers; dies at a negative one, exits at a half, and never answers no number. */
const SCRIPT = `
  const { parentPort } = require('node:worker_threads');
  parentPort.on('message', (message) => {
    if (message === 'end') parentPort.close();
    else if ('note' in message) parentPort.postMessage({ note: message.note * 2 });
    else if (message.task === 0.5) process.exit(3);
    else if (Number.isNaN(message.task)) return;
    else if (message.task < 0) throw new Error('a negative number');
    else parentPort.postMessage({ id: message.id, result: message.task * 2 });
  });`;

function openPool(signal = new AbortController().signal): WorkerPool<number, number> {
  return createWorkerPool<number, number>({
    work: 'doubles numbers',
    signal,
    openThread: () => new Worker(SCRIPT, { eval: true }),
    toMessage: (task) => ({ message: task, moved: [] }),
    toResult: (result: number) => result,
    runHere: (task) => -2 * task,
  });
}

describe('a pool of worker threads', () => {
  it('runs tasks in the caller thread until a thread is open', async () => {
    const pool = openPool();
    expect(await pool.run(1)).toBe(-2);
    pool.open();
    expect(await pool.run(1)).toBe(2);
    await pool.close();
  });

  it('answers each of many tasks, more than its threads hold at once', async () => {
    const pool = openPool();
    pool.open();
    pool.open();
    const tasks = Array.from({ length: 50 }, (_, at) => at);
    expect(await Promise.all(tasks.map(pool.run))).toEqual(tasks.map((task) => task * 2));
    expect(pool.hasIdle()).toBe(true);
    await pool.close();
  });

  it('fails the tasks of a thread that dies, and all later ones', async () => {
    const pool = openPool();
    pool.open();
    const works = [-1, 1, 2, 3].map(pool.run);
    for (const work of works) await expect(work).rejects.toThrow('A thread that doubles numbers died');
    await expect(pool.run(1)).rejects.toMatchObject({ code: 'internal' });
    await pool.close();
  });

  it('fails the tasks of a thread that exits', async () => {
    const pool = openPool();
    pool.open();
    await expect(pool.run(0.5)).rejects.toThrow('it ended with code 3');
    await pool.close();
  });

  it('passes notes to and from one thread, and fails its tasks when it is terminated', async () => {
    const pool = openPool();
    const notes = Promise.withResolvers<number>();
    const thread = pool.open(notes.resolve);
    const unanswered = thread.run(Number.NaN);
    thread.notify(21);
    expect(await notes.promise).toBe(42);
    const failed = expect(unanswered).rejects.toMatchObject({ code: 'aborted' });
    await pool.terminate();
    await failed;
  });

  it('rejects queued and later tasks once its signal has fired', async () => {
    const abort = new AbortController();
    const pool = openPool(abort.signal);
    pool.open();
    const works = Array.from({ length: 9 }, () => pool.run(1));
    abort.abort();
    const results = await Promise.allSettled(works);
    expect(results.map(({ status }) => status).slice(2)).toEqual(Array(7).fill('rejected'));
    await expect(pool.run(1)).rejects.toMatchObject({ code: 'aborted' });
    await pool.close();
  });
});
