/** The figures of one fleet's program on disk: `bench/figures/fleet/*.json`, which the results page shows. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { dirname } from 'node:path';
import { formatBytes } from '../../engine/api/text/numbers.ts';
import type { FleetFigure, FleetTarget } from '../page/fleet-section.ts';
import { formatFleetFigure } from '../page/fleet-section.ts';

type Circumstances = Readonly<Record<string, string>>;

/** Call it when the measuring begins, so that the load is that of other programs. */
export function fleetCircumstances(more: Circumstances = {}): Circumstances {
  const commit = execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim();
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} x ${cpus()[0]?.model.trim() ?? 'unknown'}, ${formatBytes(totalmem())} of memory`,
    dray: `commit ${commit}, Node ${process.version}`,
    'load average before': loadavg()
      .map((load) => load.toFixed(1))
      .join(', '),
    ...more,
  };
}

/** Prints the figure, and writes it where `--json` says. */
export function publishFigure(figure: FleetFigure, file: string | undefined): void {
  console.log(formatFleetFigure(figure).join('\n'));
  if (file !== undefined) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${JSON.stringify(figure, undefined, 2)}\n`);
  }
  if (figure.targets.some(({ isMet }) => isMet === false)) process.exitCode = 1;
}

export function target(text: string, reached: string, isMet: boolean | null): FleetTarget {
  return { target: text, reached, isMet };
}
