/** The rows of the results page: the newest result of each scenario, server and latency. */
import { USUAL_SERVER } from '../machines/bench-servers.ts';
import type { Scenario } from '../scenarios/scenario.ts';
import type { Session } from './figures-file.ts';
import type { EntrantResult, ScenarioResult } from './results.ts';

export interface ResultRow {
  readonly result: ScenarioResult;
  /** Undefined where no S3 server takes part. */
  readonly server: string | undefined;
  readonly session: Session;
  /** The entrant of the targets; undefined where Dray takes no part. */
  readonly own: EntrantResult | undefined;
  /** The fastest measured peer. */
  readonly bestPeer: EntrantResult | undefined;
  /** The ratio of the two medians. */
  readonly ratio: number | undefined;
  /** False also when a peer was measured and Dray was not. */
  readonly isFirst: boolean;
}

/** The existing scenarios, in their order. */
export type KnownScenarios = readonly Pick<Scenario, 'name' | 'isLocal' | 'isWithoutStore'>[];

/**
 * In the order of the scenarios, the usual server and the lowest latency first. Quick runs are left out,
 * since their figures mean nothing.
 *
 * @param known Also says which scenarios use no S3 server: rows of old files do not.
 */
export function collectRows(sessions: readonly Session[], known: KnownScenarios): readonly ResultRow[] {
  const isWithoutStore = (name: string) => {
    const scenario = known.find((one) => one.name === name);
    return (scenario?.isWithoutStore ?? scenario?.isLocal) === true;
  };
  const newest = new Map<string, ResultRow>();
  for (const session of sessions) {
    if (session.isQuick) continue;
    for (const result of session.scenarios) {
      const server = isWithoutStore(result.scenario) ? undefined : (result.server ?? onlyServerOf(session));
      const row = createRow(result, server, session);
      const present = newest.get(keyOf(row));
      if (!present || isNewer(row, present)) newest.set(keyOf(row), row);
    }
  }
  return [...newest.values()].sort((left, right) => compareRows(left, right, known));
}

/** A left-out run never replaces a measured one. */
function isNewer({ result: one }: ResultRow, { result: other }: ResultRow): boolean {
  const [isLeftOut, wasLeftOut] = [one.leftOut !== undefined, other.leftOut !== undefined];
  return isLeftOut === wasLeftOut ? other.startedAt < one.startedAt : wasLeftOut;
}

function compareRows(left: ResultRow, right: ResultRow, known: KnownScenarios): number {
  const place = ({ result }: ResultRow) => {
    const index = known.findIndex(({ name }) => name === result.scenario);
    return index < 0 ? known.length : index;
  };
  return (
    place(left) - place(right) ||
    Number(isUsualServer(right.server)) - Number(isUsualServer(left.server)) ||
    left.result.latencyMs - right.result.latencyMs ||
    (keyOf(left) < keyOf(right) ? -1 : 1)
  );
}

/** `copy-1k-30ms`, or on another server than the usual `copy-1k-30ms on minio`. */
export function keyOf({ result, server }: Pick<ResultRow, 'result' | 'server'>): string {
  return isUsualServer(server) ? result.name : `${result.name} on ${server}`;
}

/** `, versitygw`, and the place of its data unless both are the usual ones. */
export function describeServer({ result, server }: Pick<ResultRow, 'result' | 'server'>): string {
  if (server === undefined) return '';
  return `, ${server}${result.store === 'disk' ? ', data on disk' : ''}`;
}

export function isUsualServer(server: string | undefined): boolean {
  return server === undefined || server === USUAL_SERVER;
}

/** Files from before a run could use several servers name their only one in its property `server`. */
function onlyServerOf({ environment }: Session): string | undefined {
  return environment.server?.split(/[ ,]/)[0];
}

function createRow(result: ScenarioResult, server: string | undefined, session: Session): ResultRow {
  const own = findOwn(result);
  const bestPeer = own && quickestPeer(result.entrants, own.files);
  const ratio = own && bestPeer && wallOf(own) / wallOf(bestPeer);
  return { result, server, session, own, bestPeer, ratio, isFirst: ratio === undefined || ratio <= 1 };
}

/** The first entrant of a target, at its largest size. */
function findOwn({ entrants, verdicts }: ScenarioResult): EntrantResult | undefined {
  const of = verdicts[0]?.target.of;
  const dray = entrants.filter(({ kind }) => kind === 'dray');
  const ofTarget = dray.filter((entrant) => entrant.name === of || workOf(entrant) === of);
  const named = ofTarget.length > 0 ? ofTarget : dray.slice(0, 1);
  return named.toSorted((left, right) => (right.files ?? 0) - (left.files ?? 0))[0];
}

/** The work without the number of files: `dray push`. */
export function workOf({ name }: Pick<EntrantResult, 'name'>): string {
  return name.replace(/, [\d,]+ files$/, '');
}

/** In ms; infinite when it was not measured. */
export function wallOf({ outcome }: EntrantResult): number {
  return outcome.state === 'measured' ? outcome.wall.median : Number.POSITIVE_INFINITY;
}

function quickestPeer(
  entrants: readonly EntrantResult[],
  files: number | undefined,
): EntrantResult | undefined {
  return entrants
    .filter((entrant) => entrant.kind === 'peer' && entrant.outcome.state === 'measured')
    .filter((entrant) => entrant.files === files)
    .sort((left, right) => wallOf(left) - wallOf(right))[0];
}

export interface ResultGroup {
  /** The name of its plot: `copies`. */
  readonly name: string;
  readonly title: string;
  readonly rows: readonly ResultRow[];
}

const GROUPS: readonly { readonly name: string; readonly title: string; readonly of: RegExp }[] = [
  { name: 'datasets', title: 'Datasets: push, status, clone', of: /^(push|clone|pull|status|repo)/ },
  { name: 'copies', title: 'Plain copies to a bucket and from it', of: /^copy/ },
  { name: 'comparisons', title: 'Comparing before copying', of: /^(dry|compare|check|exist)/ },
  { name: 'servers', title: 'From one server to another', of: /^s2s/ },
  { name: 'machines', title: 'Trees from one machine to another', of: /^(peer|iso)/ },
  { name: 'deltas', title: 'One huge file that changed', of: /^(delta|cdc)/ },
  { name: 'cycles', title: 'Edit, push, pull: a growing dataset', of: /^cycle/ },
  { name: 'growth', title: 'Growing numbers of files', of: /^(growth|scan)/ },
];

/** The groups that have rows, with the rest at the end. */
export function groupRows(rows: readonly ResultRow[]): readonly ResultGroup[] {
  const isOf = (row: ResultRow, pattern: RegExp) => pattern.test(row.result.scenario);
  const named = GROUPS.map(({ name, title, of }) => ({
    name,
    title,
    rows: rows.filter((row) => isOf(row, of)),
  }));
  const rest = rows.filter((row) => !GROUPS.some(({ of }) => isOf(row, of)));
  return [...named, { name: 'others', title: 'Others', rows: rest }].filter((group) => group.rows.length > 0);
}
