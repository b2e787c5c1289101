/**
 * Everything that must hold, in one run: format and lint, types, import rules, the build, every test. Ends
 * with a line of its own, `N passed, N failed, N skipped`, and exits with 1 when anything failed. Arguments
 * go to vitest.
 *
 * - `npm test`: everything that takes minutes.
 * - `npm test -- engine/model`: the checks, the build, and these tests.
 * - `npm run test:long`: `*.long.test.ts`, all of a test with a budget (`runBudget`), the tests of `longIt`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findElectron } from '../e2e/desktop/find-electron.ts';
import { findWhyNoLoopDisks } from '../e2e/interrupted/loop-disk.ts';
import { findWhyNotTraced } from '../e2e/regression/kernel-calls.ts';
import { roomyFolder } from '../e2e/servers/memory-folder.ts';
import { findChromium } from '../e2e/window/find-chromium.ts';
import { readTestCounts, type TestCounts } from './test-counts.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const LONG = '--long';
const given = process.argv.slice(2);
const isLong = given.includes(LONG);
const BUILD = 'build';
const SERVERS = ['versitygw', 'toxiproxy', 'temporal'];
/** And these for `npm run test:long`. */
const SERVERS_LONG = ['restic', 'minio'];

interface Step {
  readonly name: string;
  readonly command: string;
  readonly parameters: readonly string[];
}

/**
 * The steps before the tests. They run at once, because each of them leaves a processor idle for a time. All
 * of them run even when one fails, so that one run shows every problem.
 */
const STEPS: readonly Step[] = [
  {
    name: 'format and lint',
    command: 'biome',
    parameters: ['ci', `--colors=${process.stdout.isTTY ? 'force' : 'off'}`, '.'],
  },
  { name: 'types', command: 'tsc', parameters: [] },
  { name: 'types of the window', command: 'tsc', parameters: ['-p', 'renderer'] },
  { name: "types of the window's tests", command: 'tsc', parameters: ['-p', 'e2e/window'] },
  { name: 'import rules', command: 'node', parameters: ['.ci/import-rules.ts'] },
  { name: BUILD, command: 'node', parameters: ['app/build/build.ts'] },
  { name: 'browser', command: 'node', parameters: ['.ci/install-chromium.ts'] },
];

/** Prints the step's output once it has ended, so that no two steps mix theirs. */
function runStep({ name, command, parameters }: Step): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(command, parameters, {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32',
      env: { ...process.env, ...(process.stdout.isTTY ? { FORCE_COLOR: '1' } : {}) },
    });
    const output: Buffer[] = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk));
    const end = (isDone: boolean, message = '') => {
      console.log(`\n== ${name}\n${Buffer.concat(output)}${message}`.trimEnd());
      resolve(isDone);
    };
    child.once('error', (error) => end(false, `${command} did not start: ${error.message}`));
    child.once('close', (exitCode) => end(exitCode === 0));
  });
}

function succeeds(
  command: string,
  parameters: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): boolean {
  const { status, error } = spawnSync(command, parameters, {
    cwd: ROOT,
    stdio: 'inherit',
    shell: process.platform === 'win32',
    env: { ...process.env, ...environment },
  });
  if (error) console.error(`${command} did not start: ${error.message}`);
  return status === 0;
}

async function runTests(parameters: readonly string[]): Promise<TestCounts> {
  // In memory, file operations cost a third of the processor's time and syncs cost nothing. The long tests
  // need more room than memory has.
  const folder = mkdtempSync(join(isLong ? tmpdir() : await roomyFolder(), 'dray-test-'));
  // Like any temporary folder: some tests work as another user in it.
  chmodSync(folder, 0o1777);
  const report = join(folder, 'report.json');
  try {
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    const isClean = succeeds(
      'vitest',
      ['run', '--config', '.vitest.config.ts', ...reporters, ...parameters],
      {
        ...(isLong ? { DRAY_LONG_TESTS: '1' } : {}),
        TMPDIR: folder,
        // Threads and processes of the tests run sources. Most of their start is compiling these.
        NODE_COMPILE_CACHE: join(folder, 'compiled'),
        // A build that failed may have left an older command.
        ...(isBuilt ? { DRAY_TEST_COMMAND: join(ROOT, 'dist', 'dray.js') } : {}),
      },
    );
    const counts = readTestCounts(JSON.parse(readFileSync(report, 'utf8')));
    // An error outside of any test fails the run without failing a test.
    return isClean || counts.failed > 0 ? counts : { ...counts, failed: 1 };
  } catch (error) {
    console.error(`vitest left no report: ${error instanceof Error ? error.message : error}`);
    return { passed: 0, failed: 1, skipped: 0 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readVersion(browser: string): string {
  const { stdout } = spawnSync(browser, ['--version'], { encoding: 'utf8' });
  return stdout?.trim() || 'a browser of unknown version';
}

// Missing servers take minutes to build, so that begins while the checks run. The tests that need one wait
// for it, and say why if there is none. Most tests wait for the first.
if (given.every((parameter) => parameter === LONG))
  spawn('node', ['e2e/servers/tools.ts', ...SERVERS, ...(isLong ? SERVERS_LONG : [])], {
    cwd: ROOT,
    stdio: 'ignore',
  })
    .on('error', () => {})
    .unref();
const areDone = await Promise.all(STEPS.map(runStep));
const broken = STEPS.filter((_step, at) => !areDone[at]);
console.log('\n== tests');
const isBuilt = broken.every(({ name }) => name !== BUILD);
const counts = await runTests(given.filter((parameter) => parameter !== LONG));
if (broken.length > 0)
  console.error(`\nFailed before the tests: ${broken.map((step) => step.name).join(', ')}`);
if (findElectron() === undefined)
  console.log(
    '\nDid not run: the desktop app and the library in the real Electron, because it is not installed here.',
  );
const chromium = findChromium();
if (chromium === undefined)
  console.log('\nDid not run: the window in a browser, because there is no Chromium here.');
else console.log(`\nThe window ran in ${readVersion(chromium)} (${chromium}).`);
const whyNoLoopDisks = findWhyNoLoopDisks();
if (whyNoLoopDisks !== undefined)
  console.log(
    `\nDid not run: the power cuts, because no disk can be mounted for them here (${whyNoLoopDisks}).`,
  );
const whyNotTraced = await findWhyNotTraced();
if (whyNotTraced !== undefined)
  console.log(
    `\nNot compared: the counts of kernel calls, because they cannot be counted here (${whyNotTraced}).`,
  );
console.log(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exitCode = counts.failed > 0 || broken.length > 0 ? 1 : 0;
