/** A worker thread of the tree writer: one task a message, answered in order. */
import { parentPort, workerData } from 'node:worker_threads';
import { type ErrorRecord, toErrorRecord } from '../api/error.ts';
import { runWriteTask, type TaskResults, type WriteTask } from './tree-writer-task.ts';
import { openWriteThread, type WriteThreadData } from './tree-writer-thread.ts';

export interface WorkerRequest {
  readonly id: number;
  readonly task: WriteTask;
}

export type WorkerAnswer =
  | { readonly id: number; readonly result: TaskResults[WriteTask['kind']] }
  | { readonly id: number; readonly error: ErrorRecord };

const port = parentPort!;
const thread = await openWriteThread(workerData as WriteThreadData);

port.on('message', (message: WorkerRequest | 'end') => {
  if (message === 'end') port.close();
  else port.postMessage(answer(message.id, message.task));
});

function answer(id: number, task: WriteTask): WorkerAnswer {
  try {
    return { id, result: runWriteTask(thread, task) };
  } catch (error) {
    return { id, error: toErrorRecord(error) };
  }
}
