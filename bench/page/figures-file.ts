/** Results on disk: one JSON file for each run of the bench ("session"). */
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { judge } from './judge.ts';
import type { Figures, ScenarioResult } from './results.ts';

/** The committed results, which the results page shows. */
export const FIGURES_FOLDER = fileURLToPath(new URL('../figures/', import.meta.url));
/** The run of all scenarios. */
export const WHOLE_RUN = 'whole-run';
export const WHOLE_RUN_FILE = join(FIGURES_FOLDER, `${WHOLE_RUN}.json`);
/** The window's figures, which have a format of their own. */
export const WINDOW_FIGURES = 'window.json';

export interface Session extends Figures {
  /** The file's name without its ending: `copies-small`. */
  readonly name: string;
}

/**
 * Verdicts are computed anew, by today's rules on the file's own targets.
 *
 * @throws Error when the file has another format.
 */
export async function readFigures(file: string): Promise<Figures> {
  const figures: Figures = JSON.parse(await readFile(file, 'utf8'));
  if (!Array.isArray(figures.scenarios)) throw new Error(`${file} holds no figures.`);
  const scenarios = figures.scenarios.map((result: ScenarioResult) => ({
    ...result,
    verdicts: result.verdicts.map(({ target }) => judge(target, result.entrants)),
  }));
  return { ...figures, scenarios };
}

/** Writes the whole file or nothing. */
export async function writeFigures(file: string, figures: Figures): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(`${file}.tmp`, `${JSON.stringify(figures, undefined, 2)}\n`);
  await rename(`${file}.tmp`, file);
}

/** All files of `npm run bench` in the folder, by name. */
export async function readSessions(folder: string): Promise<readonly Session[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.json') && file !== WINDOW_FIGURES);
  return Promise.all(
    files.sort().map(async (file) => ({
      ...(await readFigures(join(folder, file))),
      name: basename(file, '.json'),
    })),
  );
}
