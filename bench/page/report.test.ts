import { describe, expect, it } from 'vitest';
import { judge } from './judge.ts';
import {
  formatEnvironment,
  formatFigures,
  formatMarkdownTable,
  formatScenario,
  formatSummary,
} from './report.ts';
import type { EntrantKind, EntrantResult, Target } from './results.ts';
import { spreadOf } from './statistics.ts';
import { formatVerdict } from './verdict-words.ts';

const MIB = 1024 * 1024;

function measured(name: string, kind: EntrantKind, wallsMs: readonly number[], peakMib = 50): EntrantResult {
  const runs = wallsMs.map((wallMs, index) => ({
    wallMs,
    cpuMs: wallMs / 2,
    peakRssBytes: (peakMib + index) * MIB,
    requests: 7,
    serverCpuMs: 120,
    sentBytes: 2 * MIB,
  }));
  const outcome = { state: 'measured', runs, wall: spreadOf(wallsMs), warmUp: null } as const;
  return { name, kind, command: `${name} copy`, outcome };
}

const DRAY = measured('dray', 'dray', [500, 400, 600]);
const RCLONE = measured('rclone', 'peer', [1000, 1100, 900]);
const S5CMD = measured('s5cmd', 'peer', [2000, 2000, 2000]);
const NODE = measured('node -e 0', 'reference', [30, 30, 30]);
const BROKEN: EntrantResult = {
  name: 'aws',
  kind: 'peer',
  command: 'aws s3 cp',
  outcome: { state: 'failed', reason: 'ended with 1:\n no | such\n', runs: [] },
};
const ABSENT: EntrantResult = {
  name: 'restic',
  kind: 'peer',
  command: null,
  outcome: { state: 'missing', reason: 'it is not on the PATH' },
};
const STARTED = '2026-11-21T08:00:00.000Z';
const HEAT = { scenario: 'push', latencyMs: 0 };
const ALL = [DRAY, RCLONE, S5CMD, NODE, BROKEN, ABSENT];

const HALF: Target = { kind: 'ratio', of: 'dray', toBestOf: ['rclone', 's5cmd', 'aws'], atMost: 0.5 };

const verdictOf = (target: Target, entrants: readonly EntrantResult[]) =>
  formatVerdict(judge(target, entrants), entrants);

describe('A target', () => {
  it('by ratio compares with the fastest of the measured tools', () => {
    expect(judge(HALF, ALL)).toEqual({ target: HALF, reached: 0.5, isMet: true });
    expect(judge({ ...HALF, atMost: 0.49 }, ALL).isMet).toBe(false);
  });

  it('is not met when no tool to compare with was measured', () => {
    const target: Target = { ...HALF, toBestOf: ['aws', 'restic', 'unheard of'] };
    expect(judge(target, ALL)).toEqual({ target, reached: null, isMet: false });
    expect(judge(HALF, [RCLONE])).toEqual({ target: HALF, reached: null, isMet: false });
  });

  it('by excess is a difference of medians', () => {
    const target: Target = { kind: 'excess', of: 'dray', over: 'node -e 0', atMostMs: 470 };
    expect(judge(target, ALL)).toEqual({ target, reached: 470, isMet: true });
  });

  it('of memory compares the runs with the highest peaks', () => {
    const target: Target = { kind: 'peakRss', of: 'dray', atMostBytes: 51 * MIB };
    expect(judge(target, ALL)).toEqual({ target, reached: 52 * MIB, isMet: false });
  });

  it('is printed with its bound, the result and the verdict', () => {
    expect(verdictOf({ ...HALF, toBestOf: ['rclone'], atMost: 0.1 }, ALL)).toBe(
      'target: dray takes at most 0.1 times as long as rclone: reached 0.500, NOT met',
    );
  });

  it('names only the tools that it was compared with', () => {
    expect(verdictOf(HALF, ALL)).toBe(
      'target: dray takes at most 0.5 times as long as the fastest of rclone, s5cmd: reached 0.500, met',
    );
    expect(verdictOf(HALF, [DRAY, S5CMD, BROKEN])).toBe(
      'target: dray takes at most 0.5 times as long as s5cmd: reached 0.250, met',
    );
  });

  it('is printed with the reason when a figure is missing', () => {
    const blind = { ...measured('blind', 'dray', [1]) };
    const without = { ...blind, outcome: { ...blind.outcome, runs: [] } } as EntrantResult;
    const reasons = [
      verdictOf(HALF, [DRAY, BROKEN]),
      verdictOf({ ...HALF, toBestOf: ['dvc'] }, ALL),
      verdictOf(HALF, [RCLONE]),
      verdictOf({ kind: 'excess', of: 'dray', over: 'node', atMostMs: 1 }, [DRAY]),
      verdictOf({ kind: 'peakRss', of: 'blind', atMostBytes: 1 }, [without]),
      verdictOf({ kind: 'sent', of: 'blind', atMostBytes: 1 }, [without]),
    ].map((line) => line.split(': unknown: ')[1]);
    expect(reasons).toEqual([
      'none of rclone, s5cmd, aws was measured',
      'dvc was not measured',
      'dray was not measured',
      'node was not measured',
      'no program here measures the memory of a process',
      'no program here counts bytes',
    ]);
  });
});

describe('The table of a scenario', () => {
  const lines = formatScenario({
    name: 'push',
    title: 'First push',
    ...HEAT,
    startedAt: STARTED,
    entrants: ALL,
    verdicts: [],
  });
  const row = (name: string) => lines.find((line) => line.startsWith(`| ${name} `)) ?? '';
  const cells = (name: string) =>
    row(name)
      .split('|')
      .slice(2, -1)
      .map((cell) => cell.trim());

  it('has medians, the spread and the ratio to the best peer', () => {
    expect(cells('dray')).toEqual([
      '0.50 s',
      '0.40 s to 0.60 s',
      '0.25 s',
      '0.12 s',
      '51.0 MiB',
      '7',
      '2.0 MiB',
      '-',
      '3',
      '0.50',
    ]);
    expect(cells('s5cmd').at(-1)).toBe('2.00');
  });

  it('never counts a reference as a peer', () => {
    expect(cells('node -e 0').at(-1)).toBe('0.03');
    expect(cells('rclone').at(-1)).toBe('1.00');
  });

  it('has a row with the reason for a failed or missing tool', () => {
    expect(row('aws')).toContain('failed: ended with 1: no / such');
    expect(row('restic')).toContain('missing: it is not on the PATH');
  });

  it('ends with a line for each target and the tools that it compares', () => {
    const targets: readonly Target[] = [
      HALF,
      { kind: 'excess', of: 'dray', over: 'node -e 0', atMostMs: 100 },
      { kind: 'peakRss', of: 'dray', atMostBytes: 100 * MIB },
      { ...HALF, of: 'aws' },
    ];
    const verdicts = targets.map((target) => judge(target, ALL));
    const summary = formatSummary([
      { name: 'push', title: 'First push', ...HEAT, startedAt: STARTED, entrants: ALL, verdicts },
    ]);
    const cells = summary.slice(2).map((line) =>
      line
        .split('|')
        .slice(2, -1)
        .map((cell) => cell.trim()),
    );
    expect(cells).toEqual([
      ['dray: 0.50 s', 'rclone: 1.0 s', '0.5', '0.500, met'],
      ['dray: 0.50 s', 'node -e 0: 0.03 s', '0.10 s more', '0.47 s, NOT met'],
      ['dray: 52.0 MiB', 'rclone: 52.0 MiB, s5cmd: 52.0 MiB', '100 MiB', '52.0 MiB, met'],
      ['not measured', '', '', ''],
    ]);
  });

  it("of memory shows each peer's peak", () => {
    const target: Target = { kind: 'peakRss', of: 'dray', atMostBytes: 100 * MIB };
    const entrants = [
      measured('dray', 'dray', [1, 2], 60),
      measured('s5cmd', 'peer', [1], 900),
      NODE,
      BROKEN,
    ];
    const row = (of: readonly EntrantResult[]) =>
      formatSummary([
        { name: 'm', title: 'M', ...HEAT, startedAt: STARTED, entrants: of, verdicts: [judge(target, of)] },
      ]).at(-1);
    expect(row(entrants)).toMatch(/dray: 61\.0 MiB .* s5cmd: 900 MiB \|/);
    expect(row(entrants.slice(0, 1))).toMatch(/dray: 61\.0 MiB \| +- \|/);
    expect(row(entrants.slice(1))).toContain('not measured');
  });

  it('is equal when printed from a results file', () => {
    const scenarios = [
      {
        name: 'push',
        title: 'First push',
        ...HEAT,
        startedAt: STARTED,
        entrants: ALL,
        verdicts: [judge(HALF, ALL)],
      },
    ];
    const figures = { environment: { machine: '2 cores' }, isQuick: true, scenarios };
    const printed = formatFigures(JSON.parse(JSON.stringify(figures)));
    expect(printed.join('\n')).toBe(
      [
        ...formatEnvironment(figures.environment, true),
        '',
        ...formatScenario(scenarios[0]!),
        '',
        '### Targets',
        '',
        ...formatSummary(scenarios),
      ].join('\n'),
    );
    expect(printed[0]).toContain('too small');
  });

  it('has lines of equal width', () => {
    const table = formatMarkdownTable(['a', 'b'], [['long name', '1'], ['x'], ['y', '12345']]);
    expect(table).toEqual([
      '| a         |     b |',
      '| --------- | ----: |',
      '| long name |     1 |',
      '| x         |       |',
      '| y         | 12345 |',
    ]);
  });
});
