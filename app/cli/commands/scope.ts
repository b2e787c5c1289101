import type { Command } from 'commander';
import type { ScopeRequest, ScopeSummary } from '../../../engine/api/jobs/scope.ts';
import { formatBytes, formatPlural } from '../../../engine/api/text/numbers.ts';
import { type CommandHost, type CommandView, runCommand } from '../command-host.ts';
import { addExamples } from '../options/examples.ts';
import { createBandwidthOption } from '../options/global-options.ts';
import { formatOutside } from '../output/outside-line.ts';
import { quotePath } from '../output/terminal-text.ts';

export function addScopeCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('scope')
    .summary('choose which part of the dataset this workspace holds')
    .description(
      'Shows or changes the part of the dataset that this workspace holds. Everything else stays on the remote as it is. A pattern is a folder or a file from the root of the workspace, or has *, ?, [ ] or { }.',
    )
    .action((_options: unknown, self: Command) => run(host, self, { action: 'list' }));
  const list = command
    .command('list')
    .description('Lists the patterns of what this workspace holds.')
    .action((_options: unknown, self: Command) => run(host, self, { action: 'list' }));
  addExamples(list, [['dray scope list', 'one pattern a line']]);
  addChange(command, host, {
    action: 'add',
    description: 'Takes more into this workspace, and downloads it.',
    example: ['dray scope add labels "raw/2024-*"', 'also these folders'],
  });
  addChange(command, host, {
    action: 'drop',
    description:
      'Takes patterns out of the scope. Removes their files if they were pushed and are unchanged.',
    example: ['dray scope drop labels', 'no longer here, still on the remote'],
  });
  addChange(command, host, {
    action: 'only',
    description:
      'Holds what these patterns name, and nothing else. Downloads what is missing, and removes what was pushed and is unchanged.',
    example: ['dray scope only labels', 'this folder, and nothing else'],
  });
  const clear = command
    .command('clear')
    .description('Holds everything again, and downloads what is missing.')
    .addOption(createBandwidthOption())
    .action((_options: unknown, self: Command) => run(host, self, { action: 'clear' }));
  addExamples(clear, [['dray scope clear', 'the whole dataset']]);
  addExamples(command, [
    ['dray scope', 'what this workspace holds'],
    ['dray scope add labels', 'download one more folder'],
    ['dray scope drop raw', 'free its space; the remote keeps it'],
  ]);
}

interface Change {
  readonly action: 'add' | 'drop' | 'only';
  readonly description: string;
  readonly example: readonly [string, string];
}

function addChange(scope: Command, host: CommandHost, { action, description, example }: Change): void {
  const command = scope
    .command(action)
    .description(description)
    .argument('<pattern...>', 'folders, files, or patterns such as "*.csv"')
    .addOption(createBandwidthOption())
    .action((patterns: string[], _options: unknown, self: Command) => run(host, self, { action, patterns }));
  addExamples(command, [example]);
}

function run(host: CommandHost, self: Command, request: ScopeRequest): Promise<void> {
  const isList = request.action === 'list';
  return runCommand(host, self, {
    start: async (context) => (await import('../../../engine/jobs/scope/scope.ts')).scope(context, request),
    view: isList ? listView : changeView,
    ...(isList ? {} : { resumable: true }),
  });
}

const listView: CommandView<ScopeSummary> = {
  onSummary: ({ only, outside }, output) => {
    for (const pattern of only ?? []) output.result(quotePath(pattern));
    if (!only) output.note('This workspace holds everything. Choose a part with "dray scope only PATTERN".');
    if (outside.count > 0) output.note(formatOutside(outside));
  },
};

const changeView: CommandView<ScopeSummary> = {
  onSummary: ({ downloadedBytes, failed, fetched, freedBytes, only, outside, removed }, output) => {
    const done = [
      ...(fetched > 0 ? [`Fetched ${formatPlural(fetched, 'file')}, ${formatBytes(downloadedBytes)}.`] : []),
      ...(removed > 0 ? [`Removed ${formatPlural(removed, 'file')}, ${formatBytes(freedBytes)}.`] : []),
    ];
    for (const line of done) output.note(line);
    if (failed > 0) output.note('Not all files arrived or left: run the same command again.');
    const held = only ? only.map(quotePath).join(', ') : 'everything';
    output.note(`This workspace holds ${held}.`);
    if (outside.count > 0) output.note(formatOutside(outside));
  },
};
