/** Describes what the figures were made with: the machine, the system, the tools. */
import { execFile } from 'node:child_process';
import { arch, cpus, release, totalmem, type } from 'node:os';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { formatBytes } from '../../engine/api/text/numbers.ts';
import type { BenchArguments } from '../arguments.ts';
import { DRAY_COMMAND } from '../entrants/contenders.ts';
import type { StoreKind } from '../page/results.ts';
import type { BenchPlan } from '../scenarios/plan-benches.ts';
import { MEASURED_ENOUGH_MS, WARM_UP_MAX_MS } from '../scenarios/run-scenario.ts';
import type { Bench } from './bench.ts';
import { PEER_NAMES } from './peers.ts';

export interface Circumstances {
  readonly given: Pick<BenchArguments, 'folder' | 'runs'>;
  readonly benches: readonly Pick<BenchPlan, 'server' | 'store'>[];
  /** The measurements that are impossible here, with the reason. */
  readonly unmeasured: readonly string[];
}

/** Returns the properties in the order of the page. */
export async function describeEnvironment(
  contenders: Bench['contenders'],
  { given: { folder, runs }, benches, unmeasured }: Circumstances,
): Promise<Readonly<Record<string, string>>> {
  const commit = await promisify(execFile)('git', ['describe', '--always', '--dirty'], {
    cwd: dirname(DRAY_COMMAND),
  }).then(
    ({ stdout }) => ` (${stdout.trim()})`,
    () => '',
  );
  const servers = [...new Set(benches.map(({ server }) => server))];
  const stores = benches.map(({ store }) => store);
  const tools = (['dray', ...PEER_NAMES] as const).flatMap((name): [string, string][] => {
    const found = contenders.get(name);
    if (!found) return [];
    if ('missing' in found) return [[name, `missing: ${found.missing}`]];
    return [[name, name === 'dray' ? `${found.version}${commit}` : found.version]];
  });
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} x ${cpus()[0]?.model.trim() ?? 'unknown'}, ${formatBytes(totalmem())} of memory`,
    system: `${type()} ${release()} ${arch()}, Node ${process.version}`,
    ...(servers.length > 0
      ? { server: `${servers.join(', ')} on the loopback, data ${describeStores(stores)}` }
      : {}),
    latency: 'where a scenario has one: toxiproxy, on each answer and none on requests',
    source: `${folder}, page cache warm`,
    runs: `up to ${runs} each, ${MEASURED_ENOUGH_MS / 1000} s of them, after one that warms up; that one alone where it took over ${WARM_UP_MAX_MS / 1000} s`,
    ...(unmeasured.length > 0 ? { 'not measured': unmeasured.join('. ') } : {}),
    ...Object.fromEntries(tools),
  };
}

function describeStores(stores: readonly StoreKind[]): string {
  if (!stores.includes('memory')) return 'on disk';
  return stores.includes('disk') ? 'in memory, on disk where a row says so' : 'in memory';
}
