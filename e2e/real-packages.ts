/** Packages of this project's own node_modules: a real tree that is there wherever the tests run. */
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runBudget } from '../engine/base/run-budget.fixture.ts';

export const PACKAGES = fileURLToPath(new URL('../node_modules', import.meta.url));

/** Small files, links, executables, and a binary that is stored in chunks. */
const SOME = [
  '.bin',
  '@types',
  'commander',
  'esbuild',
  'fast-check',
  'hash-wasm',
  'p-limit',
  'playwright-core',
  'typescript',
  'valibot',
];

/** The files of some packages, or of all. */
export const PACKAGE_FILES_MIN = runBudget({ short: 600, long: 3_000 });

/** Names in node_modules, without the notes that tools keep there, which may change while the tests run. */
export function listPackages(): readonly string[] {
  const names = readdirSync(PACKAGES);
  return names.filter(
    runBudget({
      short: (name: string) => SOME.includes(name),
      long: (name: string) => !/^\.(?!bin$)/.test(name),
    }),
  );
}
