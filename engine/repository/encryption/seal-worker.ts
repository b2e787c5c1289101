/** A thread that seals and opens: one task per message, answered in order. */
import { parentPort } from 'node:worker_threads';
import { toErrorRecord } from '../../api/error.ts';
import { POOL_END, type PoolAnswer, type PoolRequest } from '../../base/worker-pool.ts';
import { runSealTask, type SealingTask } from './seal-task.ts';

const port = parentPort!;

port.on('message', (message: PoolRequest<SealingTask> | typeof POOL_END) => {
  if (message === POOL_END) port.close();
  else port.postMessage(answer(message));
});

function answer({ id, task }: PoolRequest<SealingTask>): PoolAnswer<readonly number[]> {
  try {
    return { id, result: runSealTask(task) };
  } catch (error) {
    return { id, error: toErrorRecord(error) };
  }
}
