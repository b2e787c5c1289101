/** A worker of a fleet: does steps of any job of its queue until it is stopped. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import {
  DefaultLogger,
  NativeConnection,
  Runtime,
  Worker,
  type WorkflowBundleOption,
} from '@temporalio/worker';
import { DrayError } from '../../../engine/api/error.ts';
import type { FleetSteps } from '../../../engine/api/jobs/fleet.ts';
import type { JobContext } from '../../../engine/api/jobs/jobs.ts';
import { checkListens } from '../check-listens.ts';
import { ownQueue } from '../fleet-messages.ts';
import { withTracingPackages } from '../packages.ts';
import { fromTemporal } from '../temporal-errors.ts';
import {
  type ConnectionSettings,
  connectionSettings,
  dataConverter,
  type TemporalOptions,
} from '../temporal-options.ts';
import { bundleName, bundleWorkflows } from '../workflow-bundle.ts';
import { createActivities, type StepEvent } from './activities.ts';
import { checkNameFree, WORKER_IDENTITY } from './same-name.ts';
import { createStepMetrics } from './step-metrics.ts';
import type { Tracing } from './tracing.ts';
import { untilAnswered } from './until-answered.ts';

/** How often a worker reports progress to Temporal and learns of a pause. */
const HEARTBEATS_MS = 2_000;
const ANSWER_MS = 10_000;

export interface WorkerRequest {
  readonly temporal: TemporalOptions;
  /** Steps at the same time. */
  readonly slots: number;
  /** How long a stopped worker continues its steps before it gives them back. */
  readonly drainMs: number;
  /** `HOST:PORT` for Prometheus. */
  readonly metricsAddress?: string;
  /** The URL of an OpenTelemetry collector. */
  readonly tracesUrl?: string;
  /** The folder that jobs may push, and the name by which they ask for it. */
  readonly offers?: NonNullable<JobContext['offers']>;
  readonly steps: FleetSteps;
  /** Called again when the worker has reached a Temporal that was away. */
  readonly onReady: () => void;
  readonly onEvent: (event: StepEvent) => void;
  /** Gets each line of Temporal's own log, and why the worker waits for Temporal. */
  readonly onLog: (line: string) => void;
}

export interface WorkerSummary {
  /** Steps that ended, and those of them that failed. */
  readonly steps: number;
  readonly failedSteps: number;
}

/** Returns when the signal fires. While Temporal does not answer, it waits. */
export async function runWorker(context: JobContext, request: WorkerRequest): Promise<WorkerSummary> {
  const { metricsAddress, onLog, temporal } = request;
  const tracing = await startTracing(context, request);
  install({ onLog, temporal, ...(metricsAddress !== undefined && { metricsAddress }) });
  const reach = {
    settings: await connectionSettings(temporal),
    converter: await dataConverter(temporal),
    bundle: await findBundle(tracing !== undefined),
  };
  const summary = { steps: 0, failedSteps: 0 };
  const onEvent = (event: StepEvent) => {
    if (event.type === 'ended' || event.type === 'failed') summary.steps += 1;
    if (event.type === 'failed') summary.failedSteps += 1;
    request.onEvent(event);
  };
  try {
    await untilAnswered(
      (onAnswer) => serve(context, { ...request, onEvent }, { ...reach, tracing, onAnswer }),
      { temporal, signal: context.signal, onWait: onLog },
    );
    return summary;
  } finally {
    await tracing?.close();
  }
}

interface Reach {
  readonly settings: ConnectionSettings;
  readonly converter: DataConverter;
  readonly bundle: WorkflowBundleOption;
  readonly tracing: Tracing | undefined;
  readonly onAnswer: () => void;
}

/** Works until it is stopped, or until it loses Temporal for good. */
async function serve(
  context: JobContext,
  { drainMs, metricsAddress, offers, onEvent, onReady, slots, steps, temporal }: WorkerRequest,
  { bundle, converter, onAnswer, settings, tracing }: Reach,
): Promise<void> {
  await checkListens(settings, { limitMs: ANSWER_MS, signal: context.signal });
  if (context.signal.aborted) return;
  const connection = await NativeConnection.connect(settings);
  try {
    if (offers) await checkNameFree(connection, temporal, offers.worker);
    const metrics = createStepMetrics(Runtime.instance().metricMeter);
    const options = {
      connection,
      namespace: temporal.namespace,
      identity: WORKER_IDENTITY,
      dataConverter: converter,
      ...tracing?.options,
      activities: createActivities({
        steps,
        context: {
          ...context,
          ...(offers && { offers }),
          // Counting costs each request a call, and without `--metrics` nobody sees the counts.
          ...(metricsAddress !== undefined && { onCall: metrics.onCall }),
        },
        metrics,
        onEvent,
      }),
      maxConcurrentActivityTaskExecutions: slots,
      shutdownGraceTime: drainMs,
      maxHeartbeatThrottleInterval: HEARTBEATS_MS,
      defaultHeartbeatThrottleInterval: HEARTBEATS_MS,
    };
    const workers = [await Worker.create({ ...options, taskQueue: temporal.queue, workflowBundle: bundle })];
    if (offers)
      workers.push(await Worker.create({ ...options, taskQueue: ownQueue(temporal.queue, offers.worker) }));
    await runAll(workers, context.signal, () => {
      onAnswer();
      onReady();
    });
  } finally {
    await connection.close();
  }
}

/** When one ends, the others end too. */
async function runAll(workers: readonly Worker[], signal: AbortSignal, onRun: () => void): Promise<void> {
  const stop = () => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  const running = workers.map((worker) => worker.run().finally(stop));
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  onRun();
  const ends = await Promise.allSettled(running);
  signal.removeEventListener('abort', stop);
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
}

async function startTracing(
  { environment }: JobContext,
  { onLog, tracesUrl }: WorkerRequest,
): Promise<Tracing | undefined> {
  if (tracesUrl === undefined) return undefined;
  const { openTracing } = await withTracingPackages(() => import('./tracing.ts'));
  return openTracing({
    url: tracesUrl,
    serviceName: environment.OTEL_SERVICE_NAME ?? 'dray-fleet-worker',
    onProblem: (why) => onLog(`traces do not reach ${tracesUrl}: ${why}`),
  });
}

function install({
  metricsAddress,
  onLog,
  temporal,
}: Pick<WorkerRequest, 'metricsAddress' | 'onLog' | 'temporal'>): void {
  try {
    Runtime.install({
      logger: new DefaultLogger('ERROR', ({ level, message, meta }) => {
        const why = meta?.error === undefined ? '' : `: ${fromTemporal(meta.error, temporal).message}`;
        onLog(`${level.toLowerCase()}: ${message}${why}`);
      }),
      // The command handles signals itself.
      shutdownSignals: [],
      telemetryOptions: {
        logging: { forward: { level: 'ERROR' } },
        ...(metricsAddress !== undefined && { metrics: { prometheus: { bindAddress: metricsAddress } } }),
      },
    });
  } catch (cause) {
    const why = /exporter: (.*)$/.exec((cause as Error).message)?.[1];
    if (metricsAddress === undefined || why === undefined) throw cause;
    throw new DrayError('usage', `Metrics for Prometheus cannot be served at ${metricsAddress}: ${why}.`, {
      cause,
      advice: 'Choose another address with --metrics.',
    });
  }
}

/** Built beside the command; from the sources, made now. */
async function findBundle(isTraced: boolean): Promise<WorkflowBundleOption> {
  const codePath = fileURLToPath(new URL(`./${bundleName(isTraced)}`, import.meta.url));
  return existsSync(codePath) ? { codePath } : { code: await bundleWorkflows(isTraced) };
}
