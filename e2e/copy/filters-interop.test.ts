/**
 * Filters select the same files in Dray and in rclone, on random lists and trees. Installs rclone from its
 * registry when it is missing.
 *
 * `DRAY_FILTER_LISTS=2000` sets the number of lists.
 */
import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { promisify } from 'node:util';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { addFilterOptions, type FilterOptions, toFilter } from '../../app/cli/options/filter-options.ts';
import { findPeer } from '../../bench/machines/peers.ts';
import { DrayError } from '../../engine/api/error.ts';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { listPlace } from '../../engine/jobs/one-place/list-place.ts';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { type FilterList, sampleFilterLists, toArguments, writeTree } from './filter-lists.ts';

const LISTS = Number(process.env.DRAY_FILTER_LISTS ?? runBudget({ short: 8, long: 150 }));
const SEED = 19;

/** The paths that Dray's options select, or undefined when Dray refuses the options. */
async function askDray(root: string, args: readonly string[]): Promise<readonly string[] | undefined> {
  const command = new Command().exitOverride();
  addFilterOptions(command);
  command.parse(args, { from: 'user' });
  const context = testContext(root);
  try {
    const filter = toFilter(command.opts<FilterOptions>(), context);
    await listPlace(context, { place: '.', recursive: true, ...(filter ? { filter } : {}) });
  } catch (error) {
    if (error instanceof DrayError && error.code === 'usage') return undefined;
    throw error;
  }
  return eventsOf(context, 'entry')
    .filter(({ kind }) => kind === 'file')
    .map(({ path }) => showControls(path))
    .sort();
}

/** rclone prints a symbol for a carriage return. */
const showControls = (path: string) => path.replaceAll('\r', '\u240d');

async function askRclone(
  program: string,
  root: string,
  args: readonly string[],
): Promise<readonly string[] | undefined> {
  const answer = promisify(execFile)(program, [
    'lsf',
    '-R',
    '--files-only',
    '--config',
    '/dev/null',
    root,
    ...args,
  ]);
  const printed = await answer.then(
    ({ stdout }) => stdout,
    (error: { readonly code?: number; readonly stderr?: string }) => {
      if (/mismatched|bad glob|too many stars|malformed/.test(error.stderr ?? '')) return undefined;
      throw error;
    },
  );
  return printed
    ?.split('\n')
    .filter((line) => line !== '')
    .sort();
}

/**
 * The same rules as a single list of --filter options that makes rclone read every folder. By itself rclone
 * skips folders in which, by its reading of the rules, nothing can match: with `+ a/*` only Dray finds
 * `x/a/b`.
 */
function lookingEverywhere({ options }: FilterList): readonly string[] {
  const EVERY_FOLDER = '+ **/';
  const rulesOf = (kind: string, sign: string) =>
    [kind, `${kind}-from`].flatMap((flag) =>
      options
        .filter((option) => option.flag === flag)
        .flatMap(({ values }) => values.map((value) => sign + value)),
    );
  const rules = [...rulesOf('--include', '+ '), ...rulesOf('--exclude', '- '), ...rulesOf('--filter', '')];
  const hasIncludes = options.some(({ flag }) => flag.startsWith('--include'));
  return [EVERY_FOLDER, ...rules, ...(hasIncludes ? ['- /**'] : [])].flatMap((rule) =>
    rule === '!' ? ['--filter', rule, '--filter', EVERY_FOLDER] : ['--filter', rule],
  );
}

describe('Filters', () => {
  it(`select the same files as rclone's for ${LISTS} random lists of options`, async ({ skip }) => {
    const rclone = await findPeer('rclone');
    if ('missing' in rclone) return skip(`rclone is not available: ${rclone.missing}`);
    using sandbox: Sandbox = createSandbox();
    const counts = { same: 0, refused: 0, refusedByRcloneAlone: 0, folders: 0 };
    for (const [at, list] of sampleFilterLists(LISTS, SEED).entries()) {
      const root = sandbox.path(`tree-${at}`);
      mkdirSync(root);
      mkdirSync(sandbox.path(`rules-${at}`));
      writeTree(root, list);
      const args = toArguments(list, sandbox.path(`rules-${at}`));
      const ours = await askDray(root, args);
      const theirs = await askRclone(rclone.path, root, args);
      const about = JSON.stringify(list.options);
      if (ours === undefined) {
        expect(theirs, about).toBeUndefined();
        counts.refused += 1;
      } else if (theirs === undefined) counts.refusedByRcloneAlone += 1;
      else if (JSON.stringify(ours) === JSON.stringify(theirs)) counts.same += 1;
      else {
        expect(ours, about).toEqual(await askRclone(rclone.path, root, lookingEverywhere(list)));
        expect(ours, about).toEqual(expect.arrayContaining([...theirs]));
        counts.folders += 1;
      }
    }
    console.log(`filters and ${rclone.version}: ${JSON.stringify(counts)}`);
    expect(counts.same).toBeGreaterThan(LISTS / 2);
  });
});
