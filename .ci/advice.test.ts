/**
 * Commands, flags and variables belong into the advice of an error or a warning, which a window leaves out of
 * its own words. This reads every text of the engine and of the window.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseSync } from 'vite';
import { describe, expect, it } from 'vitest';

const ENGINE = join(import.meta.dirname, '../engine');
/** A command, a flag, or a variable of the environment. */
/** `X` stands for a value in a template. */
const COMMAND = /\bdray (?:[a-z]+\b|X)|(?:^|[\s("'`])--[a-z]{2}|\b(?:AWS|DRAY)_[A-Z*]|\bulimit\b/;

/** Only a command line can ask for what these refuse, or they run where no window is. */
const OF_THE_COMMAND_LINE: readonly string[] = [
  // `--no-index`, `--backup-dir`, `--immutable`, `--update`, `--files-from`, `--cdc`, and a stream as a side.
  'jobs/push/skipped-paths.ts: --no-index ',
  'jobs/trees/copy-stream.ts',
  'jobs/trees/copy-tree.ts',
  'jobs/trees/delete/backup-folder.ts',
  'jobs/trees/delete/refuse-change.ts',
  'jobs/trees/source-items.ts',
  // The name of a run that was cut, as its record has it.
  'jobs/working-copy/interrupted-writes.ts: dray scope ',
  'transfer/delta/block-delta.ts',
  // `dray delta`, and `dray check`'s report.
  'jobs/delta/delta-side-opener.ts',
  'jobs/trees/check/check-report.ts',
  // Saved jobs and what they write for the system, and where kept files are listed.
  'jobs/saved/',
  // `dray serve`, which runs without a window.
  'peer/serve-folder.ts',
  // A variable that is set wrongly is named by its name.
  'remotes/peer/peer-tokens.ts: DRAY_TOKEN_HOST is "',
  // Saved jobs: a notice, what `dray job` prints, a job's log, and the service of `dray job install`.
  'jobs/saved/notices/send-notice.ts: "dray job log X" shows more.',
  'jobs/saved/run-record.ts: Started by X: dray X',
  'jobs/saved/saved-jobs.ts: It runs by "dray job run".',
  'jobs/saved/service-files.ts: systemctl ',
  // The window has its own words for `locked` and `waitingForLock`.
  'workspace/workspace-lock.ts: "dray X" (process ',
  // Parts of advice.
  'jobs/session/command-line.ts',
  // The command lines of merge and revert, as advice and the record of a run name them.
  'jobs/merge/abort-merge.ts: X --abort',
  'jobs/merge/pending-merge.ts: ',
  'jobs/merge/revert.ts:  --parent X',
  'jobs/working-copy/interrupted-writes.ts: dray X',
  'jobs/session/base/arrivals.ts:  --remote ',
  'jobs/working-copy/interrupted-writes.ts:  --remote ',
  // No text for people: the seed of a hash, and the first line of a file.
  'files/chunks/chunker-memory.ts',
  'transfer/download/range-journal.ts',
];

const WINDOW = join(import.meta.dirname, '../renderer');
const FLEET_COMMANDS =
  /^screens\/fleet\/\S+: (?:dray fleet (?:worker|copy)\b|temporal server |.* open this screen with "dray ui"\.$)/;

describe('The words of the window', () => {
  it('speak of no command, flag or variable, except where keys and passwords come from', () => {
    const isAllowed = (text: string) =>
      text.endsWith(': AWS_ACCESS_KEY_ID of the environment that Dray was started in') ||
      /^screens\/passwords\/passwords-dialog\.tsx: Jobs run without a person\b/.test(text) ||
      // Workers and jobs of a fleet run on other machines. The window shows them and cannot start them.
      FLEET_COMMANDS.test(text);
    const offences = sourceFiles(WINDOW).flatMap((path) =>
      textsOf(path)
        .filter((text) => COMMAND.test(text))
        .map((text) => `${relative(WINDOW, path)}: ${text}`)
        .filter((text) => !isAllowed(text)),
    );
    expect(offences).toEqual([]);
  });
});

describe('The words of the engine', () => {
  it('speak of commands, flags and variables only in advice, which a window leaves out', () => {
    const offences = sourceFiles(ENGINE).flatMap((path) => {
      const name = relative(ENGINE, path).replaceAll('\\', '/');
      return textsOf(path)
        .filter((text) => COMMAND.test(text))
        .map((text) => `${name}: ${text}`)
        .filter((found) => !OF_THE_COMMAND_LINE.some((allowed) => found.startsWith(allowed)));
    });
    expect(offences).toEqual([]);
  });

  it('keep each exception only while it is needed', () => {
    const found = sourceFiles(ENGINE).flatMap((path) =>
      textsOf(path).map((text) => `${relative(ENGINE, path).replaceAll('\\', '/')}: ${text}`),
    );
    const isNeeded = (allowed: string) =>
      found.some((text) => text.startsWith(allowed) && COMMAND.test(text));
    expect(OF_THE_COMMAND_LINE.filter((allowed) => !isNeeded(allowed))).toEqual([]);
  });
});

function sourceFiles(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !/\.(test|fixture|bench)\.ts$/.test(name))
    .map((name) => join(folder, name))
    .sort();
}

/** A node of the syntax tree, as ESTree has it. */
type Node = Readonly<Record<string, unknown>> & { readonly type: string };

/** The texts of a file that may be shown as they are: without those of advice, types and imports. */
function textsOf(path: string): readonly string[] {
  const source = readFileSync(path, 'utf8');
  const texts: string[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) visit(item);
    if (!isNode(value) || /^(Import|TS\w*(Type|Alias|Interface))/.test(value.type) || isAdvice(value)) return;
    if (/^(Literal|JSXText)$/.test(value.type) && typeof value.value === 'string') texts.push(value.value);
    if (value.type === 'TemplateLiteral')
      texts.push(
        (value.quasis as Node[]).map(({ value: text }) => (text as { cooked: string }).cooked).join('X'),
      );
    for (const child of childrenOf(value)) visit(child);
  };
  visit(parseSync(path, source).program);
  return texts.filter((text) => /\s/.test(text.trim()));
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

/** After the message, `advised` and `refuse` take advice. */
function childrenOf(node: Node): readonly unknown[] {
  if (node.type === 'CallExpression' && /^(advised|refuse)$/.test(nameOf(node.callee)))
    return (node.arguments as unknown[]).slice(0, 1);
  return Object.values(node);
}

/** `advice: ...`, `const whyAdvice = ...`, `function adviceOut`, `command: 'dray verify'`. */
function isAdvice({ id, key, type }: Node): boolean {
  if (type === 'Property') return IS_ADVICE.test(nameOf(key));
  return ['VariableDeclarator', 'FunctionDeclaration'].includes(type) && IS_ADVICE.test(nameOf(id));
}

const IS_ADVICE = /^(command|\w*advice\w*)$/i;

function nameOf(node: unknown): string {
  return isNode(node) && typeof node.name === 'string' ? node.name : '';
}
