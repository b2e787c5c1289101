/** Reads the histories that a job left at Temporal, with Temporal's own command. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { toolPath } from '../../e2e/servers/tools.ts';

export interface Histories {
  /** Runs of workflows: a history that begins anew is a run of its own. */
  readonly runs: number;
  /** Runs that another one continues. */
  readonly continued: number;
  readonly events: number;
  readonly eventsMax: number;
}

interface Listed {
  readonly execution: { readonly workflowId: string };
  readonly historyLength: string;
  readonly status: string;
}

const RUNS_MAX = 10_000;

/** @param address Of Temporal. */
export async function readHistories(address: string, id: string): Promise<Histories> {
  const args = ['workflow', 'list', '--address', address, '--limit', String(RUNS_MAX), '--output', 'json'];
  const { stdout } = await promisify(execFile)(await toolPath('temporal'), args, { maxBuffer: 2 ** 28 });
  const listed = (JSON.parse(stdout) as readonly Listed[]).filter(({ execution: { workflowId } }) =>
    isOf(workflowId, `dray-fleet-${id}`),
  );
  const lengths = listed.map(({ historyLength }) => Number(historyLength));
  if (lengths.length === 0 || lengths.some(Number.isNaN))
    throw new Error(`Temporal has no histories: ${stdout}`);
  return {
    runs: listed.length,
    continued: listed.filter(({ status }) => status.endsWith('CONTINUED_AS_NEW')).length,
    events: lengths.reduce((sum, length) => sum + length, 0),
    eventsMax: Math.max(...lengths),
  };
}

function isOf(workflowId: string, job: string): boolean {
  return workflowId === job || workflowId.startsWith(`${job}/`);
}
