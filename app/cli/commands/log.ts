import type { Command } from 'commander';
import type { CommitEvent } from '../../../engine/api/events.ts';
import { given } from '../../../engine/api/given.ts';
import type { LogSummary } from '../../../engine/api/jobs/jobs.ts';
import { formatBytes, formatPlural } from '../../../engine/api/text/numbers.ts';
import { type CommandHost, type CommandView, runCommand } from '../command-host.ts';
import { addExamples } from '../options/examples.ts';
import { parseCount } from '../options/global-options.ts';
import type { Paint } from '../output/colors.ts';
import { formatDetached } from '../output/detached-line.ts';
import { quotePath } from '../output/terminal-text.ts';

interface LogOptions {
  readonly number?: number;
}

export function addLogCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('log')
    .summary('list the commits of a branch, or those that changed a path')
    .description(
      'Lists commits, newest first: author, time, message, and the size of the dataset. With a path: only commits that changed this file or folder. A single name that no branch, tag or commit has is a path; after "--" it always is one.',
    )
    .usage('[options] [ref] [[--] path]')
    .argument('[ref]', 'a branch, a tag or a commit (default: the current branch)')
    .argument('[path]', 'a file or a folder')
    .option('-n, --number <n>', 'show at most this many', (text) =>
      parseCount(text, { min: 1, max: 1_000_000 }),
    )
    .action((first: string | undefined, second: string | undefined, options: LogOptions, self: Command) =>
      runCommand(host, self, {
        start: async (context) =>
          (await import('../../../engine/jobs/history/log.ts')).log(context, {
            ...namesOf(self, first, second),
            ...given({ limit: options.number }),
          }),
        view: logView,
      }),
    );
  addExamples(command, [
    ['dray log', 'the current branch'],
    ['dray log labels.csv', 'the commits that changed this file'],
    ['dray log v2 -- images', 'those of v2 that changed this folder'],
    ['dray log -n 1 --json', 'the newest commit, for programs'],
  ]);
}

/** A single name may be a ref or a path; after `--` it is a path. */
function namesOf(command: Command, first: string | undefined, second: string | undefined) {
  if (first === undefined) return {};
  if (second !== undefined) return { ref: first, path: second };
  // The parser drops `--`, so the raw words are searched for it.
  const { rawArgs = [] } = (command.parent ?? {}) as { readonly rawArgs?: readonly string[] };
  const dashes = rawArgs.indexOf('--');
  return dashes >= 0 && dashes < rawArgs.lastIndexOf(first)
    ? { path: first }
    : { ref: first, isPerhapsPath: true };
}

const logView: CommandView<LogSummary> = {
  onEvent: (event, output) => {
    if (event.type === 'commit') for (const line of formatCommit(event, output.paint)) output.result(line);
  },
  onSummary: ({ commits, detached }, output) => {
    if (commits === 0) output.note('No commits yet. Make the first one with "dray push".');
    if (detached) {
      const at = `${formatDetached(detached, 'the branch')}, whose commits these are.`;
      output.note(`${at} "dray log @" shows those of this version.`);
    }
  },
};

export function formatCommit(commit: CommitEvent, paint: Paint): string[] {
  const refs = commit.refs.length > 0 ? ` (${commit.refs.join(', ')})` : '';
  const merge =
    commit.parents.length > 1 ? [`Merge:  ${commit.parents.map((hash) => hash.slice(0, 10)).join(' ')}`] : [];
  return [
    `${paint('yellow', `commit ${commit.commit}`)}${paint('cyan', refs)}`,
    ...merge,
    `Author: ${quotePath(commit.author)}`,
    `Date:   ${commit.time}`,
    `${commit.isForgotten ? 'Held: ' : 'Holds:'}  ${formatPlural(commit.files, 'file')}, ${formatBytes(commit.bytes)}${commit.isForgotten ? ' (forgotten)' : ''}`,
    ...changeLine(commit),
    '',
    // A commit message keeps its line breaks.
    ...(commit.message || '(no message)').split('\n').map((line) => `    ${line}`.trimEnd()),
    '',
  ];
}

const CHANGES = {
  added: 'added',
  modified: 'changed',
  deleted: 'deleted',
  mode: 'another mode',
} as const;

function changeLine({ change, sizeBytes }: CommitEvent): string[] {
  if (change === undefined) return [];
  return [`Path:   ${CHANGES[change]}${sizeBytes === undefined ? '' : `, ${formatBytes(sizeBytes)}`}`];
}
