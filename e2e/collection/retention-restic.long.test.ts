/**
 * Dray's retention against restic itself: random histories of snapshots, one for each host of one repository,
 * and random policies. Both must keep the same snapshots, by the same rules.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KeepRule } from '../../engine/api/events.ts';
import type { RetentionPolicy } from '../../engine/api/jobs/jobs.ts';
import { createSandbox, type Sandbox } from '../../engine/jobs/session/job.fixture.ts';
import type { CommitHash } from '../../engine/model/entry.ts';
import { applyRetention, type DatedCommit } from '../../engine/model/retention-policy.ts';
import { type Draw, drawFrom } from '../seeded-draw.ts';
import { toolPath } from '../servers/tools.ts';

const HISTORIES = 6;
const SNAPSHOTS = 16;
const POLICIES = 40;
const AT_ONCE = 4;
const TAGS = ['v1', 'v2', 'daily'] as const;
const HOUR_MS = 3_600_000;
/** From a few minutes to some months. */
const GAPS_MS = [HOUR_MS / 10, HOUR_MS, 9 * HOUR_MS, 30 * HOUR_MS, 8 * 24 * HOUR_MS, 50 * 24 * HOUR_MS];

let sandbox: Sandbox;
/** Built from its pinned version, because Debian's is older. */
let command: string;
/** By host. */
const histories = new Map<string, DatedCommit[]>();

beforeAll(async () => {
  sandbox = createSandbox();
  command = await toolPath('restic');
  sandbox.write('file', 'content');
  await restic('init', '-q');
  const draw = drawFrom(23);
  const work: (() => Promise<void>)[] = [];
  for (let at = 0; at < HISTORIES; at += 1) work.push(...historyOf(`host-${at}`, draw));
  const next = async () => {
    for (let one = work.shift(); one; one = work.shift()) await one();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
});
afterAll(() => sandbox?.[Symbol.dispose]());

async function restic(...parameters: string[]): Promise<string> {
  const environment = {
    RESTIC_REPOSITORY: sandbox.path('restic'),
    RESTIC_PASSWORD: 'test',
    RESTIC_CACHE_DIR: sandbox.path('cache'),
    TZ: 'UTC',
  };
  const options = { cwd: sandbox.folder, env: { ...process.env, ...environment }, maxBuffer: 2 ** 26 };
  return (await promisify(execFile)(command, parameters, options)).stdout;
}

/** The backups of one host. The last ones may lie in the future. */
function historyOf(host: string, draw: Draw): (() => Promise<void>)[] {
  const commits: DatedCommit[] = [];
  histories.set(host, commits);
  let timeMs = Math.floor(Date.now() / 1000) * 1000 + (draw.chance(30) ? 90 * 24 * HOUR_MS : -HOUR_MS);
  return Array.from({ length: SNAPSHOTS }, () => {
    timeMs -= Math.floor((draw.of(GAPS_MS) * (1 + draw.below(1000))) / 1_000_000) * 1000 + 1000;
    const time = new Date(timeMs).toISOString().slice(0, 19).replace('T', ' ');
    const tags = TAGS.filter(() => draw.chance(15));
    const hash = `${host} ${time}` as CommitHash;
    commits.push({ hash, timeMs, tags });
    const tagFlags = tags.flatMap((tag) => ['--tag', tag]);
    return async () => {
      await restic('backup', '-q', '--host', host, '--time', time, ...tagFlags, 'file');
    };
  });
}

function drawPolicy(draw: Draw): RetentionPolicy {
  const count = (max: number) => (draw.chance(50) ? 1 + draw.below(max) : 0);
  const policy: RetentionPolicy = {
    keepLast: count(5),
    keepDaily: count(9),
    keepWeekly: count(6),
    keepMonthly: count(6),
    ...(draw.chance(40) ? { keepWithin: draw.of(['9h', '3d', '45d', '1m', '2m3d', '1y', '1y2m10d5h']) } : {}),
    ...(draw.chance(30) ? { keepTags: [draw.of(TAGS)] } : {}),
  };
  return Object.values(policy).some((value) => value !== 0) ? policy : { keepLast: 1 };
}

function flagsOf(policy: RetentionPolicy): string[] {
  const { keepDaily, keepLast, keepMonthly, keepTags = [], keepWeekly, keepWithin } = policy;
  const counts = { last: keepLast, daily: keepDaily, weekly: keepWeekly, monthly: keepMonthly };
  return [
    ...Object.entries(counts).flatMap(([name, n]) => (n ? [`--keep-${name}`, String(n)] : [])),
    ...(keepWithin === undefined ? [] : ['--keep-within', keepWithin]),
    ...keepTags.flatMap((tag) => ['--keep-tag', tag]),
  ];
}

interface ResticGroup {
  readonly host: string;
  readonly reasons: readonly {
    readonly snapshot: { readonly time: string };
    readonly matches: readonly string[];
  }[];
}

/** The rule behind one of restic's reasons, such as "oldest daily snapshot". */
function ruleOf(reason: string): KeepRule[] {
  const counted = /^(?:oldest )?(last|daily|weekly|monthly) snapshot$/.exec(reason)?.[1];
  if (counted !== undefined) return [counted as KeepRule];
  if (reason.startsWith('within ')) return ['within'];
  return reason.startsWith('has tags') ? ['tag'] : [];
}

async function keptByRestic(policy: RetentionPolicy): Promise<Record<string, readonly KeepRule[]>> {
  const text = await restic('forget', '--dry-run', '--json', ...flagsOf(policy));
  const kept: Record<string, readonly KeepRule[]> = {};
  for (const { host, reasons } of JSON.parse(text) as readonly ResticGroup[]) {
    for (const { matches, snapshot } of reasons) {
      const rules = matches.flatMap(ruleOf).sort();
      if (rules.length > 0) kept[`${host} ${snapshot.time.slice(0, 19).replace('T', ' ')}`] = rules;
    }
  }
  return kept;
}

function keptByDray(policy: RetentionPolicy): Record<string, readonly KeepRule[]> {
  const all = [...histories.values()].flatMap((commits) => [...applyRetention(policy, commits, Date.now())]);
  return Object.fromEntries(all.map(([hash, rules]) => [hash, rules.toSorted()]));
}

describe('a random policy on random histories', () => {
  const draw = drawFrom(2301);
  it.each(Array.from({ length: POLICIES }, () => drawPolicy(draw)))(
    '%o keeps what restic keeps',
    async (policy) => {
      const kept = await keptByRestic(policy);
      expect(Object.keys(kept).length).toBeGreaterThan(0);
      expect(keptByDray(policy)).toEqual(kept);
    },
  );
});
