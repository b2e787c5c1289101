/** Finds the browser of the window's tests: `CHROMIUM_PATH`, or one on the PATH. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * The first is Chromium without a browser's own menus and bars, which no test sees: it takes a fifth less of
 * the processor.
 */
const NAMES = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
];

type Environment = Readonly<Record<string, string | undefined>>;

/** Undefined when there is none; the window's tests are then skipped with a message. */
export function findChromium(environment: Environment = process.env): string | undefined {
  const { CHROMIUM_PATH: named, PATH = '' } = environment;
  const folders = PATH.split(delimiter).filter((folder) => folder !== '');
  const candidates = named ? [named] : folders.flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return candidates.find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
