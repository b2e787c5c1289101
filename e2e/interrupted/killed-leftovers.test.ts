/**
 * Kills commands that write one file before each of their changes to the file system in turn. After each
 * kill, a push and a copy of the folder carry nothing unfinished, the file has its old or its new content,
 * and the same command, run again, leaves only the file.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { createSandbox, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { copyTree } from '../../engine/jobs/trees/copy-tree.ts';
import { runWhole, sweepKills } from './killed-command.ts';

/** The command is killed before every so many steps, and right before the file gets its new content. */
const STRIDE = runBudget({ short: 5, long: 1 });

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox[Symbol.dispose]());

const OLD = 'old '.repeat(50_000);
const NEW = 'new '.repeat(70_000);

interface Command {
  readonly name: string;
  readonly parameters: () => readonly string[];
  readonly input?: string;
  /** A part of the file's new content. */
  readonly written: string;
}

const commands: readonly Command[] = [
  {
    name: 'delta',
    parameters: () => ['delta', sandbox.path('new'), sandbox.path('work/data')],
    written: NEW,
  },
  { name: 'copy -', parameters: () => ['copy', '-', sandbox.path('work/data')], input: NEW, written: NEW },
  { name: 'copy', parameters: () => ['copy', sandbox.path('new'), sandbox.path('work/data')], written: NEW },
  {
    name: 'check --report',
    parameters: () => [
      'check',
      sandbox.path('new'),
      sandbox.path('new'),
      '--report',
      sandbox.path('work/data'),
    ],
    written: '"files"',
  },
];

describe.each(commands.slice(0, runBudget({ short: 2, long: commands.length })))(
  '"dray $name"',
  ({ input, parameters, written }) => {
    it('leaves no file that a push or copy would carry, when killed at a step', async () => {
      const work = sandbox.path('work');
      const environment = { DRAY_CACHE: sandbox.path('cache') };
      const options = { environment, ...(input === undefined ? {} : { input }) };
      sandbox.write('new', NEW);
      sandbox.write('work/data', OLD);
      await initWorkspace(testContext(work), { remoteUrl: sandbox.path('store') });
      await runWhole(parameters(), options);
      expect(readFileSync(sandbox.path('work/data'), 'utf8')).toContain(written);
      const begin = () => {
        sandbox.write('work/data', OLD);
        rmSync(sandbox.path('work/.dray-tmp'), { recursive: true, force: true });
      };
      const check = async (where: string, kills: number) => {
        const found = readFileSync(sandbox.path('work/data'), 'utf8');
        expect(found === OLD || found.includes(written), where).toBe(true);
        rmSync(sandbox.path('copied'), { recursive: true, force: true });
        const copied = { source: { place: work }, destination: { place: sandbox.path('copied') } };
        await copyTree(testContext(sandbox.folder, { environment }), copied);
        expect(readdirSync(sandbox.path('copied')), where).toEqual(['data']);
        expect(await push(testContext(work), {}), where).toMatchObject({ failed: 0 });
        if (kills % 2 === 0) await runWhole(parameters(), options);
        // A killed run's marker that its files were not synced is kept for a week, in a folder that no scan
        // reads.
        const left = readdirSync(work, { recursive: true, encoding: 'utf8' }).sort();
        const items = left.filter((name) => !/^\.dray(?:\/|-tmp$|-tmp\/unsynced-)/.test(name));
        expect(items, where).toEqual(['.dray', 'data']);
      };
      const important = [/^(rename|link) .*\/data$/];
      await sweepKills({
        ...{ parameters: parameters(), options, stride: STRIDE, least: 1, important, begin, check },
      });
      const listed = await runCli(['ls', '--json'], { cwd: work });
      expect(listed.stdout.split('\n').filter((line) => line.includes('"entry"'))).toHaveLength(1);
    });
  },
);
