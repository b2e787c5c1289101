/** The thread of `block-threads.ts`: tasks one at a time, answered in order. */
import { parentPort, workerData } from 'node:worker_threads';
import { type ErrorRecord, toErrorRecord } from '../../api/error.ts';
import type { BlockResult, BlockTask } from './block-tasks.ts';
import { createBlockThread } from './block-thread.ts';

export interface BlockWorkerData {
  readonly stop: Int32Array;
}

export interface BlockRequest {
  readonly id: number;
  readonly task: BlockTask;
}

export type BlockAnswer =
  | { readonly id: number; readonly result: BlockResult }
  | { readonly id: number; readonly error: ErrorRecord };

const port = parentPort!;
const thread = createBlockThread((workerData as BlockWorkerData).stop);
let last: Promise<void> = Promise.resolve();

port.on('message', ({ id, task }: BlockRequest) => {
  last = last.then(() => answer(id, task));
});

async function answer(id: number, task: BlockTask): Promise<void> {
  try {
    const result = await thread.run(task);
    const moved = [result.digests, result.lengths].filter((part) => part !== undefined && part.length > 0);
    port.postMessage(
      { id, result } satisfies BlockAnswer,
      moved.map((part) => part!.buffer),
    );
  } catch (error) {
    port.postMessage({ id, error: toErrorRecord(error) } satisfies BlockAnswer);
  }
}
