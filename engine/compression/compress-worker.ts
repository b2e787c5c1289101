/** A thread that compresses: one task per message, answered in order. */
import { parentPort } from 'node:worker_threads';
import { toErrorRecord } from '../api/error.ts';
import { POOL_END, type PoolAnswer, type PoolRequest } from '../base/worker-pool.ts';
import { type CompressTask, compressSpans } from './compress-spans.ts';

const port = parentPort!;

port.on('message', (message: PoolRequest<CompressTask> | typeof POOL_END) => {
  if (message === POOL_END) port.close();
  else port.postMessage(answer(message));
});

function answer({ id, task }: PoolRequest<CompressTask>): PoolAnswer<Float64Array> {
  try {
    return { id, result: compressSpans(task) };
  } catch (error) {
    return { id, error: toErrorRecord(error) };
  }
}
