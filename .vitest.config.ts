import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const ROOT = fileURLToPath(new URL('.', import.meta.url));
const isLongRun = process.env.DRAY_LONG_TESTS === '1';
/** Matches a file that runs a part of its tests in `npm test` and all in `npm run test:long`. */
const HAS_BUDGET = /\b(?:runBudget|longIt|findViolationsInBothThemes)\b/;
/**
 * Files that replace what other files share: modules, globals, timers, V8's flags. Each gets a process of its
 * own. All other files take turns in the same processes, which saves each of them the start of one and the
 * loading of the engine.
 */
const SETS_GLOBALS = /\bvi\.(?!waitFor\b)\w+\(|setFlagsFromString|syncBuiltinESMExports/;

const files = ['.ci', 'app', 'bench', 'engine', 'e2e', 'renderer']
  .flatMap((folder) => globSync(`${folder}/**/*.test.ts`, { cwd: ROOT }))
  .map((path) => path.replaceAll('\\', '/'))
  .map((path) => ({ path, source: readFileSync(ROOT + path, 'utf8') }))
  .filter(({ path, source }) => {
    const isLong = path.endsWith('.long.test.ts');
    return isLongRun ? isLong || HAS_BUDGET.test(source) : !isLong;
  });

function pathsOf(isAlone: boolean): string[] {
  return files.filter(({ source }) => SETS_GLOBALS.test(source) === isAlone).map(({ path }) => path);
}

/**
 * The files of `npm test` that take longest. They begin first, so that none of them runs alone at the end. A
 * fresh clone knows no durations, and the size of a file says little.
 */
const SLOW = [
  'e2e/collection/model',
  'e2e/interrupted/resume',
  'e2e/partial/partial-kills',
  'e2e/gateway/gateway-limits',
  'e2e/fleet/fleet-jobs',
  'e2e/fleet/fleet-datasets',
  'e2e/fleet/fleet-steps',
  'e2e/fleet/fleet-pace',
  'e2e/regression/regression',
  'e2e/collection/chaos',
  'engine/jobs/push/compressed',
  'engine/jobs/remotes/encrypted',
  'e2e/window/passwords-attacked',
  'e2e/window/passwords',
  'e2e/window/jobs',
  'e2e/window/browse',
  'app/guide/guide',
  'engine/jobs/repair/repair',
  'engine/jobs/import/dvc/import-dvc',
  'engine/jobs/retention/forgotten',
  'e2e/copy/copy-bad-link',
  'e2e/peers/peers-broken',
];

/** The same for `npm run test:long`: some minutes each. */
const SLOW_LONG = [
  'e2e/import/dvc',
  'e2e/collection/forget-model',
  'e2e/collection/model',
  'e2e/versions/real-tree',
  'e2e/versions/branches-model',
  'e2e/window/keyboard-alone',
  'e2e/peers/peers-real.long',
  'e2e/partial/partial-model',
  'e2e/partial/partial-kills',
  'engine/jobs/import/folder-versions/import-folder-versions',
  'e2e/collection/chaos',
  'e2e/collection/damage',
  'e2e/partial/partial-sync',
  'app/cli/damage-advice',
  'e2e/collection/cycles',
  'e2e/interrupted/unfinished-pull-kills',
  'e2e/interrupted/merge-kills',
  'e2e/copy/trees-real.long',
  'e2e/window/path-history',
  'e2e/interrupted/kept-cuts',
  'engine/jobs/collect/collect-huge',
  'e2e/gateway/gateway-limits',
  'app/guide/guide',
];

class SlowFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const slow = isLongRun ? SLOW_LONG : SLOW;
    const rank = ({ moduleId }: TestSpecification) => {
      const found = slow.indexOf(moduleId.slice(ROOT.length, -'.test.ts'.length));
      return found < 0 ? slow.length : found;
    };
    const sorted = await super.sort(specifications);
    // One project after the other, or their files would not share processes.
    const projects = [...new Set(sorted.map(({ project }) => project))];
    return projects.flatMap((project) =>
      sorted.filter((each) => each.project === project).sort((left, right) => rank(left) - rank(right)),
    );
  }
}

export default defineConfig({
  test: {
    // They end a test that hangs and judge nothing: on a busy machine a test may take ten times as long.
    testTimeout: isLongRun ? 3_600_000 : 600_000,
    hookTimeout: isLongRun ? 3_600_000 : 900_000,
    expect: { poll: { timeout: 120_000 } },
    pool: 'forks',
    // Two more than the two cores of a small machine: tests often wait for a disk, a process or a page.
    maxWorkers: 4,
    sequence: { sequencer: SlowFirst },
    projects: [
      { extends: true, test: { name: 'together', isolate: false, include: pathsOf(false) } },
      { extends: true, test: { name: 'alone', include: pathsOf(true) } },
    ],
  },
});
