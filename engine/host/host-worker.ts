/** The engine as a thread of its own. Each port that it receives is one window. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { fromMessagePort } from '../api/host-port.ts';
import { forgetOwnLocks } from '../workspace/workspace-lock.ts';
import { createHost } from './host-state.ts';
import type { FromWorker, ToWorker, WorkerFacts } from './open-host.ts';
import { loadFirstHandlers } from './port/host-requests.ts';
import { type ServedPort, servePort } from './port/serve-port.ts';

const { connection, crashedMs, environment } = workerData as WorkerFacts;
// Locks of the crashed thread before this one are free.
if (crashedMs !== undefined) forgetOwnLocks({ beforeMs: crashedMs });
const host = createHost({ connection, environment });

const served = new Set<ServedPort>();
loadFirstHandlers();
// What ran when the last host ended goes on, whether or not a window opens. Each window reports a failure.
host.transfers().catch(() => {});

parentPort!.on('message', (message: ToWorker) => {
  if (message.do === 'serve') serve(message.port);
  else if (message.do === 'close') void close();
  else if (message.do === 'readEnvironment') answer({ did: message.do, environment: host.environment });
  else {
    host.setEnvironment(message.environment);
    answer({ did: message.do });
  }
});

function answer(message: FromWorker): void {
  parentPort!.postMessage(message);
}

function serve(messagePort: MessagePort): void {
  const port = fromMessagePort(messagePort);
  const serving = servePort(port, host);
  served.add(serving);
  port.onClose(() => served.delete(serving));
}

/** Jobs release their locks first. */
async function close(): Promise<void> {
  await Promise.all([host.close(), ...[...served].map((serving) => serving.close())]);
  parentPort!.close();
}
