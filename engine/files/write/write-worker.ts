/** A worker thread of the tree writer: one task per message, answered in order. */
import { parentPort, workerData } from 'node:worker_threads';
import { type ErrorRecord, toErrorRecord } from '../../api/error.ts';
import { packResult, type ResultMessage, type TaskMessage, unpackTask } from './writer-message.ts';
import { runWriteTask } from './writer-task.ts';
import { openWriteThread, type WriteThreadData } from './writer-thread.ts';

export interface WorkerRequest {
  readonly id: number;
  readonly task: TaskMessage;
}

export type WorkerAnswer =
  | { readonly id: number; readonly result: ResultMessage }
  | { readonly id: number; readonly error: ErrorRecord };

const port = parentPort!;
const thread = await openWriteThread(workerData as WriteThreadData);

port.on('message', (message: WorkerRequest | 'end') => {
  if (message === 'end') port.close();
  else port.postMessage(answer(message.id, message.task));
});

function answer(id: number, message: TaskMessage): WorkerAnswer {
  try {
    const task = unpackTask(message);
    return { id, result: packResult(task, runWriteTask(thread, task)) };
  } catch (error) {
    return { id, error: toErrorRecord(error) };
  }
}
