import { describe, expect, it } from 'vitest';
import { DrayError } from '../../../api/error.ts';
import type { JobEvent } from '../../../api/events.ts';
import { Budget } from '../../../base/budget.ts';
import { TaskSet } from '../../../base/task-set.ts';
import type { TreeItem } from '../../../model/tree-item.ts';
import { createTreeCounts, type TreeRun } from '../copy-run.ts';
import { MOVED_SPECIAL, type SmallMove, type SmallMover } from './mover.ts';
import { createSmallMoves } from './small-moves.ts';

function open() {
  const tasks = new TaskSet(new AbortController().signal);
  const counts = createTreeCounts();
  const events: JobEvent[] = [];
  const context = { emit: (event: JobEvent) => events.push(event) };
  const progress = { compared: () => {}, add: () => {}, end: () => {} };
  const run = { tasks, counts, context, progress } as unknown as TreeRun;
  const moves: SmallMove[] = [];
  let flushes = 0;
  const mover: SmallMover = {
    takes: () => true,
    move: (small) => moves.push(small),
    flush: () => {
      flushes += 1;
    },
  };
  const room = new Budget(8);
  const moved: string[] = [];
  const small = createSmallMoves(run, { mover, room, onMoved: ({ item }) => moved.push(item.path) });
  const start = (path: string) => {
    room.takeNow(1);
    small.start({ path } as TreeItem, undefined);
  };
  return { small, start, moves, moved, events, counts, room, tasks, flushes: () => flushes };
}

describe('small items in flight', () => {
  it('are sent and awaited at the end, and give back their room', async () => {
    const { flushes, moved, moves, room, small, start } = open();
    start('a');
    start('b');
    let isSettled = false;
    const settled = small.settle().then(() => {
      isSettled = true;
    });
    expect(flushes()).toBe(1);
    moves[0]!.told.moved(moves[0]!, MOVED_SPECIAL);
    await Promise.resolve();
    expect(isSettled).toBe(false);
    expect(room.used).toBe(1);
    moves[1]!.told.moved(moves[1]!, MOVED_SPECIAL);
    await settled;
    expect(moved).toEqual(['a', 'b']);
    expect(room.used).toBe(0);
    await small.settle();
  });

  it('fail alone when the error is their own', async () => {
    const { counts, events, moves, small, start, tasks } = open();
    start('a');
    moves[0]!.told.failed(moves[0]!, new DrayError('io', 'a cannot be read.'));
    await small.settle();
    await tasks.settle();
    expect(counts.failed).toBe(1);
    expect(events).toMatchObject([{ type: 'fileFailed', path: 'a' }]);
  });

  it('end the run when the next item would fail too', async () => {
    const { counts, moves, room, small, start, tasks } = open();
    start('a');
    start('b');
    moves[0]!.told.failed(moves[0]!, new DrayError('unreachable', 'Nobody answers.'));
    moves[1]!.told.failed(moves[1]!, new DrayError('io', 'b cannot be read.'));
    await small.settle();
    await expect(tasks.settle()).rejects.toMatchObject({ code: 'unreachable' });
    expect(counts.failed).toBe(0);
    expect(room.used).toBe(0);
  });
});
