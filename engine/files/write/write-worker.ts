/** A worker thread of the tree writer: one task per message, answered in order. */
import { parentPort, workerData } from 'node:worker_threads';
import { toErrorRecord } from '../../api/error.ts';
import { POOL_END, type PoolAnswer, type PoolRequest } from '../../base/worker-pool.ts';
import { packResult, type ResultMessage, type TaskMessage, unpackTask } from './writer-message.ts';
import { runWriteTask } from './writer-task.ts';
import { openWriteThread, type WriteThreadData } from './writer-thread.ts';

const port = parentPort!;
const thread = await openWriteThread(workerData as WriteThreadData);

port.on('message', (message: PoolRequest<TaskMessage> | typeof POOL_END) => {
  if (message === POOL_END) port.close();
  else port.postMessage(answer(message.id, message.task));
});

function answer(id: number, message: TaskMessage): PoolAnswer<ResultMessage> {
  try {
    const task = unpackTask(message);
    return { id, result: packResult(task, runWriteTask(thread, task)) };
  } catch (error) {
    return { id, error: toErrorRecord(error) };
  }
}
