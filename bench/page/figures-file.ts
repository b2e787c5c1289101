/** Results on disk: one JSON file for each sitting. */
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { judge } from './judge.ts';
import type { Figures, ScenarioResult } from './results.ts';

/** What is kept with the project, and shown on its page of results. */
export const FIGURES_FOLDER = fileURLToPath(new URL('figures/', import.meta.url));
/** The sitting of everything. */
export const WHOLE_RUN = 'whole-run';
export const WHOLE_RUN_FILE = join(FIGURES_FOLDER, `${WHOLE_RUN}.json`);

export interface Sitting extends Figures {
  /** The file's name without its ending: `copies-small`. */
  readonly name: string;
}

/**
 * With verdicts as they are given today, on targets as they were then.
 *
 * @throws Error when the file holds something else.
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

/** Complete or not at all. */
export async function writeFigures(file: string, figures: Figures): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(`${file}.tmp`, `${JSON.stringify(figures, undefined, 2)}\n`);
  await rename(`${file}.tmp`, file);
}

/** All files of figures in the folder, by name. */
export async function readSittings(folder: string): Promise<readonly Sitting[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.json')).sort();
  return Promise.all(
    files.map(async (file) => ({
      ...(await readFigures(join(folder, file))),
      name: basename(file, '.json'),
    })),
  );
}
