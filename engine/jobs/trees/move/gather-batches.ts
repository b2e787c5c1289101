/**
 * Gathers small tasks into batches. A batch is sent when it is full, or when no task has come for a moment.
 */

export interface Gathering<Task> {
  add(task: Task, sizeBytes: number): void;
  /** Sends the waiting tasks. */
  flush(): void;
}

export interface GatheringOptions<Task> {
  readonly tasksMax: number;
  readonly bytesMax: number;
  /** Must not throw: each task reports its own result. */
  readonly send: (batch: readonly Task[], sizeBytes: number) => void;
}

const PATIENCE_MS = 2;

export function createGathering<Task>({ bytesMax, send, tasksMax }: GatheringOptions<Task>): Gathering<Task> {
  let batch: Task[] = [];
  let batchBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (batch.length === 0) return;
    const [full, fullBytes] = [batch, batchBytes];
    batch = [];
    batchBytes = 0;
    send(full, fullBytes);
  };
  return {
    add(task, sizeBytes) {
      if (batchBytes + sizeBytes > bytesMax) flush();
      batch.push(task);
      batchBytes += sizeBytes;
      if (batch.length >= tasksMax || batchBytes >= bytesMax) flush();
      else timer ??= setTimeout(flush, PATIENCE_MS);
    },
    flush,
  };
}
