/** What the page of results tells: of each scenario, on each server and through each latency, the newest result. */
import { USUAL_SERVER } from '../machines/bench-servers.ts';
import type { Scenario } from '../scenarios/scenario.ts';
import type { Sitting } from './figures-file.ts';
import type { EntrantResult, ScenarioResult } from './results.ts';

export interface ResultRow {
  readonly result: ScenarioResult;
  /** Undefined where no S3 server takes part. */
  readonly server: string | undefined;
  readonly sitting: Sitting;
  /** What the targets are about; undefined where Dray takes no part. */
  readonly own: EntrantResult | undefined;
  /** The quickest of the peers that were measured. */
  readonly bestPeer: EntrantResult | undefined;
  /** Of the medians of the two. */
  readonly ratio: number | undefined;
  /** False also where a peer was measured and Dray was not. */
  readonly isFirst: boolean;
}

/** The scenarios that there are, in their order. */
export type KnownScenarios = readonly Pick<Scenario, 'name' | 'isLocal' | 'isWithoutStore'>[];

/**
 * In the order of the scenarios, the usual server first, the least latency first. Quick runs mean nothing and are left out.
 *
 * @param known Tells also of which no S3 server is a part: rows of old files do not name theirs.
 */
export function collectRows(sittings: readonly Sitting[], known: KnownScenarios): readonly ResultRow[] {
  const isWithoutStore = (name: string) => {
    const scenario = known.find((one) => one.name === name);
    return (scenario?.isWithoutStore ?? scenario?.isLocal) === true;
  };
  const newest = new Map<string, ResultRow>();
  for (const sitting of sittings) {
    if (sitting.isQuick) continue;
    for (const result of sitting.scenarios) {
      const server = isWithoutStore(result.scenario) ? undefined : (result.server ?? onlyServerOf(sitting));
      const row = createRow(result, server, sitting);
      const present = newest.get(keyOf(row));
      if (!present || isNewer(row, present)) newest.set(keyOf(row), row);
    }
  }
  return [...newest.values()].sort((left, right) => compareRows(left, right, known));
}

/** A run that was left out says nothing against one that was not. */
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

/** `, versitygw`; and where its data were, if that is not the usual place either. */
export function describeServer({ result, server }: Pick<ResultRow, 'result' | 'server'>): string {
  if (server === undefined) return '';
  return `, ${server}${result.store === 'disk' ? ', data on disk' : ''}`;
}

export function isUsualServer(server: string | undefined): boolean {
  return server === undefined || server === USUAL_SERVER;
}

/** Files from before a run could have several servers name the one in their first word about it. */
function onlyServerOf({ environment }: Sitting): string | undefined {
  return environment.server?.split(/[ ,]/)[0];
}

function createRow(result: ScenarioResult, server: string | undefined, sitting: Sitting): ResultRow {
  const own = findOwn(result);
  const bestPeer = own && quickestPeer(result.entrants, own.files);
  const ratio = own && bestPeer && wallOf(own) / wallOf(bestPeer);
  return { result, server, sitting, own, bestPeer, ratio, isFirst: ratio === undefined || ratio <= 1 };
}

/** The first whom a target is about; of one that took part at several sizes, at the largest. */
function findOwn({ entrants, verdicts }: ScenarioResult): EntrantResult | undefined {
  const of = verdicts[0]?.target.of;
  const dray = entrants.filter(({ kind }) => kind === 'dray');
  const ofTarget = dray.filter((entrant) => entrant.name === of || workOf(entrant) === of);
  const named = ofTarget.length > 0 ? ofTarget : dray.slice(0, 1);
  return named.toSorted((left, right) => (right.files ?? 0) - (left.files ?? 0))[0];
}

/** What was done, without the number of files: `dray push`. */
export function workOf({ name }: Pick<EntrantResult, 'name'>): string {
  return name.replace(/, [\d,]+ files$/, '');
}

/** In ms; infinite where it was not measured. */
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
  /** Of its plot: `copies`. */
  readonly name: string;
  readonly title: string;
  readonly rows: readonly ResultRow[];
}

const GROUPS: readonly { readonly name: string; readonly title: string; readonly of: RegExp }[] = [
  { name: 'datasets', title: 'Datasets: push, status, clone', of: /^(push|clone|pull|status|repo)/ },
  { name: 'copies', title: 'Plain copies to a bucket and from it', of: /^copy/ },
  { name: 'comparisons', title: 'Looking before copying', of: /^(dry|compare|check|exist)/ },
  { name: 'servers', title: 'From one server to another', of: /^s2s/ },
  { name: 'machines', title: 'Trees from one machine to another', of: /^(peer|iso)/ },
  { name: 'deltas', title: 'One huge file that changed', of: /^(delta|cdc)/ },
  { name: 'cycles', title: 'Edit, push, pull: a dataset that grows', of: /^cycle/ },
  { name: 'growth', title: 'More and more files', of: /^(growth|scan)/ },
];

/** Those that have rows, the rest at the end. */
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
