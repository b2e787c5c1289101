/** Starts the jobs of a fleet, watches them, and sends them signals. */
import {
  Client,
  Connection,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowHandle,
} from '@temporalio/client';
import { DrayError } from '../../engine/api/error.ts';
import type { FleetJobState } from '../../engine/api/host/fleet.ts';
import type { FleetKind, FleetWork } from '../../engine/api/jobs/fleet.ts';
import { checkListens } from './check-listens.ts';
import {
  DEFAULT_SETTINGS,
  type FleetLimits,
  type FleetSettings,
  JOB_WORKFLOW,
  type JobEnd,
  type JobInput,
  type JobStatus,
  jobWorkflowId,
  type ListedEnd,
  QUERIES,
  type RangeStatus,
  rangeWorkflowId,
  SIGNALS,
} from './fleet-messages.ts';
import { endedState, endedStatus, type FleetStatus, sumStatus } from './fleet-status.ts';
import { decode } from './payloads.ts';
import { fromTemporal, noSuchJob, withoutWorker } from './temporal-errors.ts';
import { connectionSettings, dataConverter, type TemporalOptions } from './temporal-options.ts';
import { type RunningStep, readPulses, waitsLong } from './worker/running-steps.ts';
import type { fleetJob } from './workflows/fleet-job.ts';

/** The time to connect, and then again to get a first answer. */
const CONNECT_MS = 5_000;
/** The time that a query waits for a worker. */
const QUERY_MS = 10_000;

/** Shown by `list`, for jobs that have ended too. */
export interface JobMemo {
  readonly id: string;
  readonly kind: FleetKind;
  readonly source: string;
  readonly destination: string;
}

export interface ListedJob extends JobMemo {
  readonly state: FleetJobState;
  readonly started: string;
  readonly ended?: string;
}

export interface StartRequest {
  readonly work: FleetWork;
  readonly memo: JobMemo;
  readonly limits: FleetLimits;
  readonly settings?: Partial<FleetSettings>;
  readonly workers?: readonly string[];
}

export interface FleetClient extends AsyncDisposable {
  start(request: StartRequest): Promise<void>;
  /** Needs a worker while the job runs. */
  status(id: string): Promise<FleetStatus>;
  /** The job's row in `list`. Needs no worker. */
  describe(id: string): Promise<ListedJob>;
  /** The job's work: the destination with the flags about the place. No list shows it. */
  work(id: string): Promise<FleetWork>;
  /** Resolves when the job has ended. */
  result(id: string): Promise<JobEnd>;
  /** The newest first. */
  list(jobsMax: number): Promise<ListedJob[]>;
  pause(id: string): Promise<void>;
  resume(id: string): Promise<void>;
  setLimits(id: string, limits: FleetLimits): Promise<void>;
  cancel(id: string): Promise<void>;
  /** A running job tries its failed files at its end; a job that has ended runs again. */
  retryFailed(id: string): Promise<'later' | 'started' | 'nothing'>;
}

export async function connectFleet(temporal: TemporalOptions): Promise<FleetClient> {
  const settings = await connectionSettings(temporal);
  const converter = await dataConverter(temporal);
  await checkListens(settings, { limitMs: CONNECT_MS });
  const connection = await Connection.connect({ ...settings, connectTimeout: CONNECT_MS }).catch((error) => {
    throw fromTemporal(error, temporal);
  });
  const client = new Client({ connection, namespace: temporal.namespace, dataConverter: converter });
  const handle = (id: string) => client.workflow.getHandle<typeof fleetJob>(jobWorkflowId(id));
  /** Translates failures. */
  const call = async <T>(id: string | undefined, action: () => Promise<T>): Promise<T> => {
    try {
      return await action();
    } catch (error) {
      throw fromTemporal(error, temporal, id);
    }
  };
  const startJob = (input: JobInput, memo: JobMemo) =>
    client.workflow.start<typeof fleetJob>(JOB_WORKFLOW, {
      workflowId: jobWorkflowId(memo.id),
      taskQueue: temporal.queue,
      args: [input],
      memo: { job: memo },
    });
  const signal = (id: string, name: string, ...values: readonly unknown[]) =>
    call(id, () => handle(id).signal(name, ...values));
  return {
    start: ({ limits, memo, settings: own, work, workers }) =>
      call(memo.id, async () => {
        const input: JobInput = {
          ...{ work, kind: memo.kind, limits },
          settings: settingsFor(workers, own),
          ...(workers && { workers }),
        };
        try {
          await startJob(input, memo);
        } catch (error) {
          if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
          throw new DrayError('usage', `There is a fleet's job ${memo.id} already.`, {
            advice: `Show it: dray fleet status ${memo.id}`,
            command: `dray fleet status ${memo.id}`,
          });
        }
      }),
    status: (id) => call(id, () => readStatus(client, handle(id), id)),
    describe: (id) => call(id, async () => cardOf(await handle(id).describe(), id)),
    work: (id) => call(id, async () => (await readInput(client, id)).work),
    result: (id) => call(id, () => handle(id).result()),
    list: (jobsMax) => call(undefined, () => listJobs(client, temporal.queue, jobsMax)),
    pause: (id) => signal(id, SIGNALS.pause),
    resume: (id) => signal(id, SIGNALS.resume),
    setLimits: (id, limits) => signal(id, SIGNALS.setLimits, limits),
    cancel: (id) =>
      call(id, async () => {
        // Temporal accepts it for a job that has ended, too.
        if ((await handle(id).describe()).status.name !== 'RUNNING') throw noSuchJob(temporal.address, id);
        await handle(id).cancel();
      }),
    retryFailed: (id) =>
      call(id, async () => {
        const description = await handle(id).describe();
        if (description.status.name === 'RUNNING') {
          await handle(id).signal(SIGNALS.retryFailed);
          return 'later';
        }
        const end = await handle(id).result();
        if (end.result === 'stopped')
          throw new DrayError('usage', `The job ${id} was cancelled before all of its parts had run.`, {
            advice: 'Start it again with the same command: it copies the rest.',
          });
        if (end.failedParts === 0) return 'nothing';
        const input = await readInput(client, id);
        await startJob({ ...input, retries: end }, description.memo?.job as JobMemo);
        return 'started';
      }),
    [Symbol.asyncDispose]: () => connection.close(),
  };
}

/** A range that waits for its worker does not delay the others. */
function settingsFor(workers: readonly string[] = [], own: Partial<FleetSettings> = {}): FleetSettings {
  const settings = { ...DEFAULT_SETTINGS, ...own };
  return { ...settings, rangesAtOnce: Math.max(settings.rangesAtOnce, workers.length) };
}

async function listJobs(client: Client, queue: string, jobsMax: number): Promise<ListedJob[]> {
  const jobs: ListedJob[] = [];
  const query = `WorkflowType = '${JOB_WORKFLOW}' AND TaskQueue = '${queue.replaceAll("'", "''")}'`;
  for await (const found of client.workflow.list({ query })) {
    if (found.memo?.job) jobs.push(cardOf(found));
    if (jobs.length === jobsMax) break;
  }
  return jobs;
}

interface Execution {
  readonly status: { readonly name: string };
  readonly memo?: Readonly<Record<string, unknown>> | undefined;
  readonly startTime: Date;
  readonly closeTime?: Date | undefined;
}

function stateOf({ closeTime, memo, startTime, status }: Execution): Omit<ListedJob, keyof JobMemo> {
  const end = memo?.end as ListedEnd | undefined;
  const states: Readonly<Record<string, FleetJobState>> = {
    COMPLETED: end ? endedState(end) : 'done',
    FAILED: 'failed',
    TERMINATED: 'terminated',
  };
  return {
    state: states[status.name] ?? (memo?.isPaused ? 'paused' : 'running'),
    started: startTime.toISOString(),
    ...(closeTime && { ended: closeTime.toISOString() }),
  };
}

function cardOf(execution: Execution, id = ''): ListedJob {
  const memo = execution.memo?.job as JobMemo | undefined;
  if (!memo) throw new DrayError('notFound', `${jobWorkflowId(id)} is not a job of a fleet.`);
  return { ...memo, ...stateOf(execution) };
}

/** The status of the job and of each running range. */
async function readStatus(
  client: Client,
  handle: WorkflowHandle<typeof fleetJob>,
  id: string,
): Promise<FleetStatus> {
  const description = await handle.describe();
  const execution = stateOf(description);
  const isRunning = description.status.name === 'RUNNING';
  if (description.status.name === 'COMPLETED')
    return endedStatus(await handle.result(), { ...cardOf(description, id), id });
  const query = <T>(own: WorkflowHandle) =>
    client.connection.withDeadline(Date.now() + QUERY_MS, () => own.query<T, []>(QUERIES.status));
  const job = await query<JobStatus>(handle).catch(async (error) => {
    // Of a job that failed, the result says why.
    if (!isRunning) await handle.result();
    throw withoutWorker(error, id);
  });
  const ranges: RangeStatus[] = [];
  const steps: RunningStep[] = [];
  const awaited: string[] = [];
  if (isRunning)
    await Promise.all(
      job.rangesRunning.map(async (range) => {
        const own = client.workflow.getHandle(rangeWorkflowId(id, range));
        try {
          const [state, described] = await Promise.all([query<RangeStatus>(own), own.describe()]);
          ranges.push(state);
          steps.push(...(await readPulses(client, described)));
          const worker = job.workers?.[range];
          if (worker !== undefined && waitsLong(described)) awaited.push(worker);
        } catch {
          // It has just ended, so the next query finds it in the sums of the job.
        }
      }),
    );
  return sumStatus({ id, job, ranges, steps, awaited, ...execution });
}

/** The job's first input. */
async function readInput(client: Client, id: string): Promise<JobInput> {
  const { events } = await client.workflow.getHandle(jobWorkflowId(id)).fetchHistory();
  const payloads = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  const { loadedDataConverter } = client.options;
  const { resumed: _, retries: __, ...input } = (await decode(loadedDataConverter, payloads))[0] as JobInput;
  return input;
}
