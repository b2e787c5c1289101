/** Small items in flight, many in one request: counts them instead of a task for each. */
import type { Budget } from '../../../base/budget.ts';
import type { TreeItem } from '../../../model/tree-item.ts';
import { failItem, type TreeRun } from '../copy-run.ts';
import type { DeferredItems } from '../delete/deferred-items.ts';
import type { Moved, SmallMove, SmallMover } from './mover.ts';

export interface SmallMoves {
  takes(item: TreeItem): boolean;
  /** Takes over a unit of the room that the caller has acquired, and gives it back when the item is done. */
  start(item: TreeItem, over: TreeItem | undefined): void;
  /**
   * Sends waiting items and resolves when none is in flight. An error that ends the run goes to its tasks.
   */
  settle(): Promise<void>;
}

export interface SmallMovesOptions {
  readonly mover: SmallMover;
  readonly room: Budget;
  readonly deferred?: DeferredItems | undefined;
  readonly onMoved: (small: SmallMove, moved: Moved) => void;
}

export function createSmallMoves(
  run: TreeRun,
  { deferred, mover, onMoved, room }: SmallMovesOptions,
): SmallMoves {
  const { progress, tasks } = run;
  let underWay = 0;
  let onIdle: (() => void) | undefined;
  /** Runs `work`. Its error concerns more than the item and ends the run. */
  const end = (work: () => void) => {
    try {
      work();
    } catch (error) {
      tasks.fail(error);
    }
    underWay -= 1;
    room.giveBack(1);
    if (underWay === 0) onIdle?.();
  };
  const told: SmallMove['told'] = {
    moved: (small, moved) => end(() => onMoved(small, moved)),
    failed: ({ item, over }, error) =>
      end(() => {
        tasks.check();
        if (!over && deferred?.take(item, error)) return;
        failItem(run, item.path, error);
        progress.compared(1);
      }),
  };
  return {
    takes: (item) => mover.takes(item),
    start(item, over) {
      underWay += 1;
      mover.move({ item, over, told });
    },
    async settle() {
      mover.flush();
      if (underWay === 0) return;
      await new Promise<void>((resolve) => {
        onIdle = resolve;
      });
    },
  };
}
