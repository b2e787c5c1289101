/** The thread of `block-threads.ts`: tasks one at a time, answered in order. */
import { parentPort, workerData } from 'node:worker_threads';
import { toErrorRecord } from '../../api/error.ts';
import { POOL_END, type PoolAnswer, type PoolRequest } from '../../base/worker-pool.ts';
import type { BlockResult, BlockTask } from './block-tasks.ts';
import { createBlockThread } from './block-thread.ts';

export interface BlockWorkerData {
  readonly stop: Int32Array;
}

const port = parentPort!;
const thread = createBlockThread((workerData as BlockWorkerData).stop);
let last: Promise<void> = Promise.resolve();

port.on('message', (message: PoolRequest<BlockTask> | typeof POOL_END) => {
  if (message === POOL_END) port.close();
  else last = last.then(() => answer(message.id, message.task));
});

async function answer(id: number, task: BlockTask): Promise<void> {
  try {
    const result = await thread.run(task);
    const moved = [result.digests, result.lengths].filter((part) => part !== undefined && part.length > 0);
    port.postMessage(
      { id, result } satisfies PoolAnswer<BlockResult>,
      moved.map((part) => part!.buffer),
    );
  } catch (error) {
    port.postMessage({ id, error: toErrorRecord(error) } satisfies PoolAnswer<BlockResult>);
  }
}
