import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { judge } from './page/judge.ts';
import { formatFigures } from './page/report.ts';
import type { EntrantResult, Figures, Target } from './page/results.ts';

const PROGRAM = fileURLToPath(new URL('figures.ts', import.meta.url));

interface Ended {
  readonly exitCode: number;
  readonly out: string;
  readonly problem: string;
}

function runFigures(...args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [PROGRAM, ...args], (error, out, problem) => {
      resolve({ exitCode: error ? Number(error.code) : 0, out, problem });
    });
  });
}

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dray-figures-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('npm run bench', () => {
  it('lists its scenarios and measures nothing with --list', async () => {
    const { exitCode, out } = await runFigures('--list');
    expect(exitCode).toBe(0);
    for (const name of ['push-1k', 'copy-50k-again', 's2s-10gb', 'dry-500', 'compare-1m'])
      expect(out).toMatch(new RegExp(`^${name} `, 'm'));
  });

  it('refuses an unknown scenario and names the known ones', async () => {
    const { exitCode, problem } = await runFigures('--scenario', 'copy-2k');
    expect(exitCode).toBe(1);
    expect(problem).toMatch(/no scenario copy-2k: push-1k, /);
  });

  it('prints the tables of several results files in turn', async () => {
    const run = { wallMs: 120, cpuMs: 60, peakRssBytes: 1024 ** 2, requests: 3, serverCpuMs: 10 };
    const entrant: EntrantResult = {
      name: 'dray copy',
      kind: 'dray',
      command: 'dray copy A B',
      outcome: {
        state: 'measured',
        runs: [run],
        warmUp: null,
        wall: { median: 120, least: 120, most: 120 },
      },
    };
    const target: Target = { kind: 'peakRss', of: 'dray copy', atMostBytes: 1024 ** 2 };
    const figures = ['first', 'second'].map(
      (title): Figures => ({
        environment: { machine: '2 cores' },
        isQuick: false,
        scenarios: [
          {
            name: 'x',
            scenario: 'x',
            latencyMs: 0,
            title,
            startedAt: '2026-11-21T08:00:00.000Z',
            entrants: [entrant],
            verdicts: [judge(target, [entrant])],
          },
        ],
      }),
    );
    const files = figures.map((one, index) => {
      const file = join(folder, `${index}.json`);
      writeFileSync(file, JSON.stringify(one));
      return file;
    });
    const { exitCode, out } = await runFigures(...files.flatMap((file) => ['--from', file]));
    expect(exitCode).toBe(0);
    expect(out).toBe(figures.map((one) => `${formatFigures(one).join('\n')}\n\n`).join(''));
  });

  it('names a file that has no figures', async () => {
    const file = join(folder, 'other.json');
    writeFileSync(file, '{}');
    const { exitCode, problem } = await runFigures('--from', file);
    expect(exitCode).toBe(1);
    expect(problem).toBe(`${file} holds no figures.\n`);
  });
});
