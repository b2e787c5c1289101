/** A worker thread of the tree writer: one task a message, answered in order. */
import { parentPort, workerData } from 'node:worker_threads';
import { type ErrorRecord, toErrorRecord } from '../api/error.ts';
import { loadSetMtime } from './set-mtime.ts';
import { runWriteTask, type TaskResults, type WriteTask, type WriteThread } from './tree-writer-task.ts';

export interface WorkerData {
  readonly root: string;
  readonly temporaryPrefix: string;
  readonly stop: Int32Array;
}

export interface WorkerRequest {
  readonly id: number;
  readonly task: WriteTask;
}

export type WorkerAnswer =
  | { readonly id: number; readonly result: TaskResults[WriteTask['kind']] }
  | { readonly id: number; readonly error: ErrorRecord };

const port = parentPort!;
const thread: WriteThread = {
  ...(workerData as WorkerData),
  setMtime: await loadSetMtime(),
  streams: new Map(),
  nextName: 0,
};

port.on('message', ({ id, task }: WorkerRequest) => {
  port.postMessage(answer(id, task));
});

function answer(id: number, task: WriteTask): WorkerAnswer {
  try {
    return { id, result: runWriteTask(thread, task) };
  } catch (error) {
    return { id, error: toErrorRecord(error) };
  }
}
