/** The engine as a thread of its own: each port that it is handed is one window. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { fromMessagePort } from '../api/host-port.ts';
import { forgetOwnLocks } from '../workspace/workspace-lock.ts';
import { createHost } from './host-state.ts';
import type { ToWorker, WorkerFacts } from './open-host.ts';
import { servePort } from './serve-port.ts';

const { crashedMs, environment } = workerData as WorkerFacts;
// What the thread before this one held when it crashed, nobody holds.
if (crashedMs !== undefined) forgetOwnLocks({ beforeMs: crashedMs });
const host = createHost({ environment });

parentPort!.on('message', (message: ToWorker) => {
  if (message.do === 'serve') servePort(fromMessagePort(message.port as MessagePort), host);
  else void close();
});

async function close(): Promise<void> {
  await host.close();
  parentPort!.postMessage('closed');
  parentPort!.close();
}
