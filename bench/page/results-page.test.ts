import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createScenarios } from '../scenarios/scenarios.ts';
import { FIGURES_FOLDER, readSessions, type Session } from './figures-file.ts';
import { type FleetFigure, readFleetFigures, readSubjectFigures } from './fleet-section.ts';
import { findReasonGaps, REASONS } from './reasons.ts';
import type { EntrantKind, EntrantResult, MeasuredRun, ScenarioResult, Target } from './results.ts';
import { PLOTS_FOLDER, renderResults } from './results-page.ts';
import { collectRows, type KnownScenarios, keyOf } from './results-rows.ts';
import { spreadOf } from './statistics.ts';
import { formatWindowSection, readWindowFigures } from './window-results.ts';

const FOLDER = fileURLToPath(new URL('..', import.meta.url));
const AGAIN = 'run `npm run bench -- --results`';

const TARGET: Target = { kind: 'ratio', of: 'dray', toBestOf: ['rclone'], atMost: 0.5 };
const KNOWN: KnownScenarios = [
  { name: 'copy-1k' },
  { name: 'push-1k' },
  { name: 'peer-1k', isWithoutStore: true },
];

function measured(
  name: string,
  kind: EntrantKind,
  wallMs: number,
  more: Partial<MeasuredRun> = {},
): EntrantResult {
  const run = { wallMs, cpuMs: 1, peakRssBytes: 2 ** 20, requests: 1, serverCpuMs: 1, ...more };
  const outcome = { state: 'measured', runs: [run], wall: spreadOf([wallMs]), warmUp: null } as const;
  return { name, kind, command: `${name} copy`, outcome };
}

function resultOf(scenario: string, more: Partial<ScenarioResult> = {}): ScenarioResult {
  return {
    name: scenario,
    scenario,
    latencyMs: 0,
    title: `The work of ${scenario}`,
    startedAt: '2026-11-21T08:00:00.000Z',
    entrants: [measured('dray', 'dray', 100), measured('rclone', 'peer', 300)],
    verdicts: [{ target: TARGET, reached: 1 / 3, isMet: true }],
    ...more,
  };
}

function sessionOf(name: string, scenarios: readonly ScenarioResult[], isQuick = false): Session {
  const environment = { date: '2026-11-21', machine: '2 cores', server: 'versitygw on the loopback' };
  return { name, environment, isQuick, scenarios };
}

function renderPage(sessions: readonly Session[], reasons = {}, fleet: readonly FleetFigure[] = []): string {
  return renderResults({ sessions, reasons, known: KNOWN, fleet }).get('RESULTS.md') ?? '';
}

describe('The committed results page', () => {
  it(`equals the figures, and so does each plot; else: ${AGAIN}`, async () => {
    const sessions = await readSessions(FIGURES_FOLDER);
    const known = createScenarios({ isQuick: false });
    const window = await readWindowFigures();
    const fleet = await readFleetFigures(FIGURES_FOLDER);
    const subjects = await readSubjectFigures(FIGURES_FOLDER);
    const files = renderResults({ sessions, reasons: REASONS, known, window, fleet, subjects });
    for (const [path, text] of files)
      expect(readFileSync(join(FOLDER, path), 'utf8') === text, path).toBe(true);
    const plots = readdirSync(join(FOLDER, PLOTS_FOLDER)).map((name) => `${PLOTS_FOLDER}/${name}`);
    expect(plots.sort()).toEqual([...files.keys()].filter((path) => path.endsWith('.svg')).sort());
  });

  it('has a reason for exactly the rows where Dray is not first (bench/page/reasons.ts)', async () => {
    const sessions = await readSessions(FIGURES_FOLDER);
    const rows = collectRows(sessions, createScenarios({ isQuick: false }));
    expect(findReasonGaps(rows, REASONS)).toEqual({ missing: [], idle: [] });
  });
});

describe('The rows of results', () => {
  it('are the newest of each scenario, server and latency in all files', () => {
    const newer = { startedAt: '2026-11-22T08:00:00.000Z' };
    const rows = collectRows(
      [
        sessionOf('a', [resultOf('copy-1k', { ...newer, title: 'newest' }), resultOf('push-1k')]),
        sessionOf('b', [
          resultOf('copy-1k'),
          resultOf('copy-1k', { server: 'minio' }),
          resultOf('copy-1k', { name: 'copy-1k-30ms', latencyMs: 30 }),
        ]),
      ],
      KNOWN,
    );
    expect(rows.map(keyOf)).toEqual(['copy-1k', 'copy-1k-30ms', 'copy-1k on minio', 'push-1k']);
    expect(rows[0]?.result.title).toBe('newest');
  });

  it('have no server when no server takes part, also in older files', () => {
    const [row] = collectRows([sessionOf('a', [resultOf('peer-1k')])], KNOWN);
    expect(row?.server).toBeUndefined();
    const [stored] = collectRows([sessionOf('a', [resultOf('copy-1k')])], KNOWN);
    expect(stored?.server).toBe('versitygw');
  });

  it('of a left-out scenario give way to a measured one of any age', () => {
    const late = { startedAt: '2026-11-22T08:00:00.000Z', entrants: [], leftOut: '/tmp has no room' };
    const sessions = [sessionOf('a', [resultOf('copy-1k')]), sessionOf('b', [resultOf('copy-1k', late)])];
    for (const order of [sessions, sessions.toReversed()])
      expect(collectRows(order, KNOWN)[0]?.own?.name).toBe('dray');
    const verdicts = [{ target: TARGET, reached: null, isMet: false }];
    const [row] = collectRows([sessionOf('b', [resultOf('push-1k', { ...late, verdicts })])], KNOWN);
    expect(row).toMatchObject({ own: undefined, isFirst: true });
  });

  it('exclude quick runs', () => {
    expect(collectRows([sessionOf('a', [resultOf('copy-1k')], true)], KNOWN)).toEqual([]);
  });

  it('compare the largest of several sizes', () => {
    const sizes = [10, 100].flatMap((files) => [
      { ...measured(`dray push, ${files} files`, 'dray', files * 2), files },
      { ...measured(`rclone copy, ${files} files`, 'peer', files * 8), files },
    ]);
    const target: Target = { ...TARGET, of: 'dray push' };
    const result = resultOf('push-1k', {
      entrants: sizes,
      verdicts: [{ target, reached: 1, isMet: true }],
    });
    const [row] = collectRows([sessionOf('a', [result])], KNOWN);
    expect(row).toMatchObject({ ratio: 0.25, own: { name: 'dray push, 100 files' }, isFirst: true });
  });

  it('are not first where only a peer was measured', () => {
    const failed: EntrantResult = {
      name: 'dray',
      kind: 'dray',
      command: null,
      outcome: { state: 'failed', reason: 'no room', runs: [] },
    };
    const result = resultOf('copy-1k', { entrants: [failed, measured('rclone', 'peer', 300)] });
    expect(collectRows([sessionOf('a', [result])], KNOWN)[0]?.isFirst).toBe(false);
  });
});

describe('Reasons', () => {
  const slow = { entrants: [measured('dray', 'dray', 400), measured('rclone', 'peer', 300)] };
  const rows = collectRows(
    [
      sessionOf('a', [
        resultOf('copy-1k', slow),
        resultOf('copy-1k', { ...slow, server: 'minio' }),
        resultOf('push-1k'),
      ]),
    ],
    KNOWN,
  );

  it('are missing for a row that is not first and has none', () => {
    expect(findReasonGaps(rows, {}).missing).toEqual(['copy-1k', 'copy-1k on minio']);
    expect(findReasonGaps(rows, { 'copy-1k on minio': 'b' }).missing).toEqual(['copy-1k']);
    expect(findReasonGaps(rows, { 'copy-1k': 'a' }).missing).toEqual([]);
  });

  it('are missing for a row without measurements', () => {
    const outcome = { state: 'failed', reason: 'no room', runs: [] } as const;
    const entrants = (['dray', 'rclone'] as const).map((name): EntrantResult => {
      return { name, kind: name === 'dray' ? 'dray' : 'peer', command: null, outcome };
    });
    const failed = collectRows([sessionOf('a', [resultOf('copy-1k', { entrants })])], KNOWN);
    expect(findReasonGaps(failed, {})).toEqual({ missing: ['copy-1k'], idle: [] });
    expect(findReasonGaps(failed, { 'copy-1k': 'a' })).toEqual({ missing: [], idle: [] });
  });

  it('are idle for a row that is first and meets its targets, or does not exist', () => {
    const reasons = { 'copy-1k': 'a', 'push-1k': 'b', unheard: 'c' };
    expect(findReasonGaps(rows, reasons).idle).toEqual(['push-1k', 'unheard']);
  });
});

describe('The page', () => {
  it('shows each row with its figures, target, run and reason', () => {
    const behind = resultOf('push-1k', {
      entrants: [measured('dray', 'dray', 400), measured('rclone', 'peer', 300)],
      verdicts: [{ target: TARGET, reached: 4 / 3, isMet: false }],
    });
    const page = renderPage([sessionOf('a', [resultOf('copy-1k'), behind])], { 'push-1k': 'It is slow.' });
    expect(page).toMatch(
      /The work of copy-1k \(`copy-1k`, versitygw\) \|.*0\.10 s.*rclone 0\.30 s.*\*\*0\.33\*\*.*met/,
    );
    expect(page).toMatch(/The work of push-1k .*1\.33 \| 1\.333 of \w+'s, at most 0\.5: not met/);
    expect(page).toContain('- `push-1k`: It is slow.');
    expect(page).toContain('Dray is first in 1 of 2 rows');
    expect(page).toContain('Each row is the newest run of its scenario.');
    expect(page).toContain('1. `figures/a.json`\n   - date: 2026-11-21');
  });

  it('starts with the newest full run and marks rows of other runs', () => {
    const slow = { entrants: [measured('dray', 'dray', 400), measured('rclone', 'peer', 300)] };
    const page = renderPage([
      sessionOf('a', [resultOf('push-1k', { startedAt: '2026-11-20T08:00:00.000Z' })]),
      sessionOf('b', [resultOf('copy-1k', { ...slow, server: 'minio' })]),
      sessionOf('whole-run', [resultOf('copy-1k'), resultOf('push-1k')]),
    ]);
    expect(page).toContain('of 2026-11-21, is session 1: 2 rows. Dray is first in 2 of 2 rows');
    expect(page).toContain('1 further row (other servers and latencies)');
    expect(page).toContain('Dray is first in 0 of 1 row that');
    expect(page).toContain('1. `figures/whole-run.json`');
    expect(page).toContain('2. `figures/b.json`');
    expect(page).not.toContain('figures/a.json');
    expect(page).not.toContain('Each row is the newest');
  });

  it('shows the figures of fleets before the sessions, with their targets and commands', () => {
    const figure: FleetFigure = {
      order: 1,
      title: 'Chaos',
      text: 'Everything fails.',
      command: 'node bench/fleet/chaos.ts',
      circumstances: { date: '2026-11-25' },
      headings: ['figure', 'value'],
      rows: [['workers killed', '9']],
      targets: [
        { target: 'equal', reached: 'equal', isMet: true },
        { target: 'sent at most 1.1 times', reached: '1.200', isMet: false },
        { target: 'as fast', reached: '0.9, on a busy machine', isMet: null },
      ],
      notes: ['Temporal restarted twice'],
    };
    const page = renderPage([sessionOf('a', [resultOf('copy-1k')])], {}, [figure]);
    expect(page).toMatch(/## A fleet on Temporal\n[\s\S]*### Chaos\n\nEverything fails\.[\s\S]*## Sessions/);
    expect(page).toMatch(/\| workers killed \| +9 \|/);
    expect(page).toContain('- target: equal: reached equal, met\n');
    expect(page).toContain('- target: sent at most 1.1 times: reached 1.200, NOT met\n');
    expect(page).toContain('- target: as fast: reached 0.9, on a busy machine, unknown\n');
    expect(page).toContain('- Temporal restarted twice\n');
    expect(page).toContain('- date: 2026-11-25\n- repeat: `node bench/fleet/chaos.ts`\n');
    expect(renderPage([sessionOf('a', [resultOf('copy-1k')])])).not.toContain('A fleet');
  });

  it('shows further targets below the table', () => {
    const memory: Target = { kind: 'peakRss', of: 'dray', atMostBytes: 100 * 2 ** 20 };
    const many = resultOf('push-1k', {
      verdicts: [
        { target: TARGET, reached: 1 / 3, isMet: true },
        { target: memory, reached: 200 * 2 ** 20, isMet: false },
        { target: { ...memory, of: 'restic' }, reached: null, isMet: false },
      ],
    });
    const page = renderPage([sessionOf('a', [many])]);
    expect(page).toMatch(/The work of push-1k .*\| +1 of 2 met, see below \|/);
    expect(page).toMatch(/Targets of `push-1k`:\n\n\| target +\| +reached \|/);
    expect(page).toMatch(/\| dray stays within 100 MiB of memory +\| +200 MiB \| \*\*not met\*\* \|/);
    expect(page).toMatch(/\| restic stays within .*\| +restic was not measured \| +unknown \|/);
  });

  it('says what was left out and why, and where the store was on disk', () => {
    const verdicts = [{ target: TARGET, reached: null, isMet: false }];
    const page = renderPage([
      sessionOf('a', [
        resultOf('copy-1k', { store: 'disk' }),
        resultOf('push-1k', { entrants: [], verdicts, leftOut: '/tmp has 1.0 GiB free' }),
      ]),
    ]);
    expect(page).toContain('The work of copy-1k (`copy-1k`, versitygw, data on disk)');
    expect(page).toMatch(/The work of push-1k .*\| +left out \|/);
    expect(page).toContain('Left out: /tmp has 1.0 GiB free.');
    expect(page).toContain('meets 1 of 1 target.');
  });

  it('lists the missing tools below the table, once a reason', () => {
    const absent = (name: string, state: 'missing' | 'failed', reason: string): EntrantResult => {
      const outcome = state === 'failed' ? { state, reason, runs: [] } : { state, reason };
      return { name, kind: 'peer', command: null, outcome };
    };
    const dray = measured('dray', 'dray', 100);
    const slow = absent('pdiffcopy', 'missing', 'left out: too slow');
    const ended = absent('restic', 'failed', `restic backup took over 3m 00s: ${'x'.repeat(300)}`);
    const unready = absent('dvc', 'failed', 'preparing it failed: rclone copy took over 30m 00s: ');
    const rows = [
      resultOf('copy-1k', { entrants: [dray, slow, absent('aws', 'failed', `${'x'.repeat(300)} no <key>`)] }),
      resultOf('copy-1k', { entrants: [dray, slow, ended, unready], name: 'copy-1k-30ms', latencyMs: 30 }),
    ];
    const page = renderPage([sessionOf('a', rows)]);
    expect(page).toContain('- `copy-1k`, `copy-1k-30ms`: pdiffcopy: left out: too slow\n');
    expect(page).toContain('- `copy-1k-30ms`: restic: took over 3m 00s\n');
    expect(page).toContain('- `copy-1k-30ms`: dvc: preparing it took over 30m 00s\n');
    expect(page).toMatch(/- `copy-1k`: aws: failed, \.\.\.x{191} no &lt;key>\n/);
  });

  it('links existing plots and is equal each time it is made', () => {
    const sessions = [sessionOf('a', [resultOf('copy-1k'), resultOf('push-1k')])];
    const files = renderResults({ sessions, reasons: {}, known: KNOWN, fleet: [] });
    const named = [...renderPage(sessions).matchAll(/\]\((plots\/[^)]+)\)/g)].map((found) => found[1]);
    expect(named.sort()).toEqual(['plots/copies.svg', 'plots/datasets.svg']);
    expect(named.every((path) => files.has(path ?? ''))).toBe(true);
    expect(renderResults({ sessions, reasons: {}, known: KNOWN, fleet: [] })).toEqual(files);
  });
});

describe('The plots', () => {
  const svgOf = (result: ScenarioResult, file: string) =>
    renderResults({ sessions: [sessionOf('a', [result])], reasons: {}, known: KNOWN, fleet: [] }).get(
      `plots/${file}`,
    ) ?? '';

  it("show each tool's fastest variant, and the tools that failed", () => {
    const failed: EntrantResult = {
      name: 's5cmd',
      kind: 'peer',
      command: null,
      outcome: { state: 'failed', reason: 'no <bucket>', runs: [] },
    };
    const entrants = [
      measured('dray', 'dray', 100),
      measured('rclone', 'peer', 300),
      measured('rclone (defaults)', 'peer', 200),
      failed,
    ];
    const svg = svgOf(resultOf('copy-1k', { entrants }), 'copies.svg');
    expect(svg).toContain('rclone (defaults): 0.20 s');
    expect(svg).not.toContain('rclone: 0.30 s');
    expect(svg).toContain('s5cmd: failed');
    expect(svg).toContain('2.00x');
    expect(svg).toContain('prefers-color-scheme:dark');
  });

  it('draw time and memory of growth as a line for each work', () => {
    const entrants = [100, 1000, 10_000].flatMap((files) => [
      { ...measured(`dray push, ${files} files`, 'dray', files, { peakRssBytes: 2 ** 26 }), files },
      {
        ...measured(`rclone copy, ${files} files`, 'peer', files * 3, { peakRssBytes: files * 1024 }),
        files,
      },
    ]);
    const result = resultOf('growth-push', { entrants });
    for (const measure of ['time', 'memory']) {
      const svg = svgOf(result, `growth-push-${measure}.svg`);
      expect(svg.match(/class="line line\d"/g)).toHaveLength(2);
      expect(svg.match(/<circle class="mark\d" cx="[\d.]+" cy="[\d.]+" r="3"/g)).toHaveLength(6);
      expect(svg).toContain('>10,000<');
    }
  });

  it('draw the median of every version as a line', () => {
    const series = (values: readonly number[]) => ({ series: { pushMs: values, storedBytes: [5, 6, 7] } });
    const entrants = [
      measured('dray', 'dray', 100, series([10, 20, 30])),
      measured('dvc', 'peer', 900, series([100, 200, 300])),
    ];
    const svg = svgOf(resultOf('cycles', { entrants }), 'cycles-pushMs.svg');
    expect(svg.match(/class="line line\d"/g)).toHaveLength(2);
    expect(svg).toContain('time of each push');
    expect(svgOf(resultOf('cycles', { entrants }), 'cycles-storedBytes.svg')).toContain('space on the store');
  });
});

describe("The window's part of the page", () => {
  it('says which figures meet their bound, and where Chromium reported no long task', () => {
    const rows = formatWindowSection({
      environment: { chromium: '150' },
      figures: [
        { work: 'longest task while typing', value: null, unit: 'ms', atMost: 50 },
        { work: 'longest task while sorting', value: 61, unit: 'ms', atMost: 50 },
        { work: 'JavaScript heap', value: 2 ** 20, unit: 'bytes', atMost: 2 ** 21 },
        { work: 'first rows after', value: 12_300, unit: 'ms' },
      ],
    }).filter((line) => line.startsWith('| ') && !line.startsWith('| work'));
    expect(rows.map((row) => row.split(/ *\| */).slice(1, -1))).toEqual([
      ['---', '---:', '---:', '---:'].map(() => expect.stringMatching(/^-+:?$/)),
      ['longest task while typing', 'none over 50 ms', '50 ms', 'met'],
      ['longest task while sorting', '61 ms', '50 ms', '**not met**'],
      ['JavaScript heap', '1.0 MiB', '2.0 MiB', 'met'],
      ['first rows after', '12.3 s', '-', ''],
    ]);
  });
});
