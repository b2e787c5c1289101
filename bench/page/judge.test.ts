import { describe, expect, it } from 'vitest';
import { judge, ratioToBestPeer } from './judge.ts';
import { formatFigures, formatSummary } from './report.ts';
import type { EntrantKind, EntrantResult, Target } from './results.ts';
import { spreadOf } from './statistics.ts';
import { formatShortVerdict, formatVerdict } from './verdict-words.ts';

const MIB = 1024 * 1024;

interface Given {
  readonly name: string;
  readonly kind?: EntrantKind;
  readonly files?: number;
  readonly wallMs: number;
  readonly peaksMib?: readonly number[];
}

function measured({ name, kind = 'dray', files, wallMs, peaksMib = [50] }: Given): EntrantResult {
  const runs = peaksMib.map((mib) => ({
    wallMs,
    cpuMs: wallMs * 2,
    peakRssBytes: mib * MIB,
    requests: null,
    serverCpuMs: null,
  }));
  const outcome = { state: 'measured', runs, wall: spreadOf([wallMs]), warmUp: null } as const;
  return { name, kind, ...(files === undefined ? {} : { files }), command: name, outcome };
}

const START = measured({ name: 'start', kind: 'reference', wallMs: 50 });
/** 50 ms plus a tenth of a millisecond for each file. */
const SIZES = [1_000, 10_000, 100_000].map((files, at) =>
  measured({ name: `scan ${files}`, files, wallMs: 50 + files / 10, peaksMib: [60, 60 + at * 10] }),
);
const PEER = measured({ name: 'peer 100000', kind: 'peer', files: 100_000, wallMs: 20_100, peaksMib: [160] });
const ALL = [START, ...SIZES, PEER];

const EXPONENT: Extract<Target, { kind: 'exponent' }> = {
  kind: 'exponent',
  of: 'scan',
  points: [1_000, 10_000, 100_000].map((files) => ({ files, entrant: `scan ${files}` })),
  start: 'start',
  measure: 'wall',
  atMost: 1.05,
};
const GROWTH: Target = { kind: 'growthOfRss', of: 'scan 100000', over: 'scan 10000', atMost: 1.1 };

describe('A target of growth', () => {
  it("subtracts the start's time and fits the rest", () => {
    const { reached, isMet } = judge(EXPONENT, ALL);
    expect(reached).toBeCloseTo(1, 9);
    expect(isMet).toBe(true);
    const startsAtOnce = [measured({ name: 'start', wallMs: 0 }), ...SIZES];
    expect(judge(EXPONENT, startsAtOnce).reached).toBeLessThan(0.95);
  });

  it("subtracts the start's CPU time when it is by CPU time", () => {
    const byCpu = judge({ ...EXPONENT, measure: 'cpu' }, ALL);
    expect(byCpu.reached).toBeCloseTo(1, 9);
  });

  it('by CPU time has no result where a size takes too little of it', () => {
    const quick = [1_000, 10_000].map((files) =>
      measured({ name: `scan ${files}`, files, wallMs: 50 + files / 25 }),
    );
    const { points, ...rest } = EXPONENT;
    const target = { ...rest, points: points.slice(0, 2) };
    expect(judge(target, [START, ...quick]).reached).toBeCloseTo(1, 9);
    const byCpu = judge({ ...target, measure: 'cpu' }, [START, ...quick]);
    expect(byCpu).toMatchObject({ reached: null, isMet: false });
    expect(formatShortVerdict(byCpu, [START, ...quick])).toBe(
      "at most files^1.05, cpu: unknown, CPU time beyond a start's is too short to measure at each size",
    );
  });

  it('is not met when the time grows by a higher power', () => {
    const slower = SIZES.map((entrant) =>
      measured({ name: entrant.name, wallMs: 50 + (entrant.files ?? 0) ** 1.1 }),
    );
    expect(judge(EXPONENT, [START, ...slower])).toMatchObject({ isMet: false });
  });

  it('has no result when a size or the start was not measured', () => {
    expect(judge(EXPONENT, [START, ...SIZES.slice(1)])).toEqual({
      target: EXPONENT,
      reached: null,
      isMet: false,
    });
    expect(judge(EXPONENT, SIZES).reached).toBeNull();
  });

  it('in memory compares the runs with the highest peaks', () => {
    expect(judge(GROWTH, ALL)).toEqual({ target: GROWTH, reached: 80 / 70, isMet: false });
    expect(judge({ ...GROWTH, over: 'peer 100000' }, ALL)).toMatchObject({ reached: 0.5, isMet: true });
    expect(judge({ ...GROWTH, over: 'nobody' }, ALL).reached).toBeNull();
  });

  it('is printed with its sizes', () => {
    expect(formatVerdict(judge(EXPONENT, ALL), ALL)).toBe(
      'target: the time of scan grows at most as files^1.05 from 1,000 to 100,000 files: reached 1.000, met',
    );
    expect(formatVerdict(judge(GROWTH, ALL), ALL)).toBe(
      'target: scan 100000 takes at most 1.1 times the memory of scan 10000: reached 1.143, NOT met',
    );
    const verdicts = [EXPONENT, GROWTH].map((target) => judge(target, ALL));
    const result = {
      name: 'growth',
      scenario: 'growth',
      latencyMs: 0,
      title: 'Growth',
      startedAt: '2026-11-21T08:00:00.000Z',
      entrants: ALL,
      verdicts,
    };
    const lines = formatSummary([result]).join('\n');
    expect(lines).toContain('scan 100000: 10.1 s');
    expect(lines).toContain('scan 1000: 0.15 s');
    expect(lines).toContain('scan 10000: 70.0 MiB');
    expect(formatFigures({ environment: {}, isQuick: false, scenarios: [result] }).length).toBeGreaterThan(
      10,
    );
  });
});

describe('The best peer', () => {
  it('is one with the same number of files', () => {
    expect(ratioToBestPeer(SIZES[2]!, ALL)).toBeCloseTo(0.5, 9);
    expect(ratioToBestPeer(SIZES[1]!, ALL)).toBeUndefined();
  });
});
