/** The engine as a thread of its own. Each port that it receives is one window. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { JobEvent } from '../api/events.ts';
import { fromMessagePort } from '../api/window/host-port.ts';
import { forgetOwnLocks } from '../workspace/workspace-lock.ts';
import { createHost } from './host-state.ts';
import type { FromWorker, ToWorker, WorkerFacts } from './open-host.ts';
import { loadFirstHandlers } from './port/host-requests.ts';
import { type ServedPort, servePort } from './port/serve-port.ts';
import { createDrayRelay } from './saved/dray-relay.ts';
import { refreshJobs } from './saved/job-list-news.ts';

const { connection, crashedMs, environment, fleetLinkUrl, hasDray, isLogin } = workerData as WorkerFacts;
// Locks of the crashed thread before this one are free.
if (crashedMs !== undefined) forgetOwnLocks({ beforeMs: crashedMs });
const relay = createDrayRelay(answer);
const host = createHost({
  connection,
  environment,
  ...(hasDray ? { runDray: relay.run } : {}),
  ...(fleetLinkUrl ? { fleetLink: async () => (await import(fleetLinkUrl)).fleetLink } : {}),
});

const served = new Set<ServedPort>();
loadFirstHandlers();
// Transfers of the last host resume without a window. Each window reports an error of the queue.
host.transfers().catch(() => {});
const jobsEnding = new AbortController();
const jobs = startDueJobs();

parentPort!.on('message', (message: ToWorker) => {
  if (message.do === 'serve') serve(message.port);
  else if (message.do === 'close') void close();
  else if (message.do === 'drayEnded') relay.hear(message);
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

/** Starts due jobs, also without a window, unless another process does. */
async function startDueJobs(): Promise<void> {
  const { dray } = host;
  if (!dray) return;
  const { serveJobsBeside } = await import('../jobs/saved/serve-jobs.ts');
  const context = {
    // A getter, so each run has the keys that were typed until then.
    get environment() {
      return host.environment;
    },
    signal: jobsEnding.signal,
    emit: (event: JobEvent) => answer({ did: 'jobEvent', event }),
  };
  const onServing = (isServing: boolean) => {
    dray.isServing = isServing;
    refreshJobs(host);
  };
  await serveJobsBeside(context, { run: dray.run, isLogin, onServing });
}

/** Jobs release their locks first. */
async function close(): Promise<void> {
  jobsEnding.abort();
  await jobs;
  await Promise.all([host.close(), ...[...served].map((serving) => serving.close())]);
  parentPort!.close();
}
