/**
 * Every console block of the README and of the guide works as it is written. `DRAY_GUIDE=write` puts what the
 * commands print now into the pages.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { startVersitygw } from '../../e2e/servers/versitygw.ts';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { type ConsoleBlock, readBlocks, readFences, type ShownCommand } from './page-blocks.fixture.ts';
import { openPageShell, type PageShell } from './page-shell.fixture.ts';
import {
  isAsShown,
  type PageHashes,
  readOutputLines,
  takeHashes,
  withOneHash,
  withShownHashes,
} from './shown-output.fixture.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PAGES = ['README.md', ...globSync('app/guide/*.md', { cwd: ROOT }).sort()].map((path) => ({
  path,
  text: readFileSync(`${ROOT}${path}`, 'utf8'),
}));
/** Runs twice as long as any other page. `npm run test:long` runs it, and who writes the pages. */
const LONG_PAGES = ['troubleshooting', 'fleet', 'jobs', 'remotes'].map((page) => `app/guide/${page}.md`);
const isAllRun = runBudget({ short: process.env.DRAY_GUIDE === 'write', long: true });
/** Blocks that no test runs. Make this number smaller, not larger. */
const NOT_RUN_BLOCKS = 6;

interface Fault {
  readonly command: ShownCommand;
  readonly text: string;
  /** What the page should show; undefined where it leaves lines out. */
  readonly lines: readonly string[] | undefined;
}

/** A page may show a failure: by its message, or by asking for the exit code. */
async function runBlock(shell: PageShell, hashes: PageHashes, { commands }: ConsoleBlock): Promise<Fault[]> {
  const faults: Fault[] = [];
  for (const [index, command] of commands.entries()) {
    const { exitCode, output } = await shell.run(command);
    const printed = readOutputLines(output);
    const mayFail =
      command.shown.some((line) => /^(?:dray: |FAILED)/.test(line)) ||
      commands[index + 1]?.command === 'echo $?';
    const isShown = command.shown.length === 0 || isAsShown(command.shown, printed);
    const isWrong = !isShown || !takeHashes(hashes, command.shown, printed);
    if (!isWrong && (exitCode === 0 || mayFail)) continue;
    const lines = isShown ? withOneHash(hashes, command.shown, printed) : withShownHashes(hashes, printed);
    const isKept = isShown || !command.shown.includes('[...]');
    const text = [
      `Line ${command.line}: ${command.command}`,
      'The page shows:',
      ...command.shown,
      `The command ended with ${exitCode} and printed${isShown ? ', where other blocks have other hashes' : ''}:`,
      output,
    ].join('\n');
    faults.push({ command, text, lines: isKept ? lines : undefined });
  }
  return faults;
}

/** The page with what its commands print now. */
function correctPage(page: string, faults: readonly Fault[]): string {
  const lines = page.split('\n');
  for (const { command, lines: wanted } of faults.toReversed()) {
    const { line, shown } = command;
    if (wanted && shown.length > 0)
      lines.splice(line + command.command.split('\n').length - 1, shown.length, ...wanted);
  }
  return lines.join('\n');
}

describe('the console blocks', () => {
  for (const { path, text } of PAGES) {
    const blocks = readBlocks(text).filter(({ whyNotRun }) => whyNotRun === undefined);
    if (blocks.length === 0 || (LONG_PAGES.includes(path) && !isAllRun)) continue;
    it.skipIf(process.platform !== 'linux')(`of ${path} work as they are written`, async () => {
      await using s3 = await startVersitygw();
      await s3.createBucket('bucket');
      await using shell = await openPageShell(
        s3.environment,
        text.includes('$ temporal server') ? ['temporal'] : [],
      );
      const faults: Fault[] = [];
      const hashes = { actualOf: new Map<string, string>(), shownOf: new Map<string, string>() };
      for (const block of blocks) faults.push(...(await runBlock(shell, hashes, block)));
      if (process.env.DRAY_GUIDE === 'write') writeFileSync(`${ROOT}${path}`, correctPage(text, faults));
      expect(faults.map((fault) => fault.text).join('\n')).toBe('');
    });
  }

  it('that are not run are few, and say why', () => {
    const notRun = PAGES.flatMap(({ path, text }) =>
      readBlocks(text)
        .filter(({ whyNotRun }) => whyNotRun !== undefined)
        .map(({ line, whyNotRun }) => `${path}:${line}: ${whyNotRun}`),
    );
    console.log(`Not run:\n${notRun.join('\n')}`);
    expect(notRun).toHaveLength(NOT_RUN_BLOCKS);
  });

  it('are the only blocks of commands', () => {
    const others = PAGES.flatMap(({ path, text }) =>
      readFences(text)
        .filter(({ language, lines }) => {
          if (language === 'console' || language === 'js') return false;
          return (
            !['text', 'json', 'mermaid'].includes(language) || lines.some((line) => /^\w*\$ /.test(line))
          );
        })
        .map(({ language, line }) => `${path}:${line}: ${language}`),
    );
    expect(others).toEqual([]);
  });
});
