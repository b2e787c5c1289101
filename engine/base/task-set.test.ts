import { describe, expect, it } from 'vitest';
import { TaskSet } from './task-set.ts';

const never = new AbortController().signal;

describe('a set of tasks', () => {
  it('waits for all tasks, including those that tasks start', async () => {
    const tasks = new TaskSet(never);
    const done: string[] = [];
    tasks.spawn(async () => {
      await new Promise(setImmediate);
      tasks.spawn(async () => {
        await new Promise(setImmediate);
        done.push('inner');
      });
      done.push('outer');
    });
    await tasks.settle();
    expect(done).toEqual(['outer', 'inner']);
    expect(tasks.size).toBe(0);
  });

  it('stops the rest at the first failure, waits for them, and throws it', async () => {
    const tasks = new TaskSet(never);
    let isStopped = false;
    tasks.spawn(async () => {
      await new Promise((resolve) => tasks.signal.addEventListener('abort', resolve));
      await new Promise(setImmediate);
      isStopped = true;
      throw new Error('a consequence');
    });
    tasks.spawn(async () => {
      throw new Error('the cause');
    });
    await expect(tasks.settle()).rejects.toThrow('the cause');
    expect(isStopped).toBe(true);
    expect(() => tasks.check()).toThrow('the cause');
  });

  it('is stopped by the outer signal, before or after it began', async () => {
    const stop = new AbortController();
    const tasks = new TaskSet(stop.signal);
    expect(tasks.signal.aborted).toBe(false);
    stop.abort();
    expect(tasks.signal.aborted).toBe(true);
    expect(new TaskSet(stop.signal).signal.aborted).toBe(true);
    await tasks.settle();
  });
});
