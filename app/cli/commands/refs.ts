import type { Command } from 'commander';
import type { JobEvent } from '../../../engine/api/events.ts';
import type { RefSummary } from '../../../engine/api/jobs.ts';
import { formatHash } from '../../../engine/api/numbers.ts';
import { type CommandHost, type CommandView, runCommand, usageError } from '../command-host.ts';
import { addExamples } from '../options/examples.ts';
import { given } from '../options/given.ts';
import type { Output } from '../output/output.ts';

interface TagOptions {
  readonly delete?: true;
  readonly force?: true;
}

export function addTagCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('tag')
    .summary('list, create, move or remove tags')
    .description(
      'Without a name: lists the tags. With a name: tags a commit. A tag does not move unless you give --force.',
    )
    .argument('[name]', 'the tag')
    .argument('[ref]', "the commit to tag (default: the workspace's commit)")
    .option('-d, --delete', 'remove the tag; its commit stays')
    .option('-f, --force', 'move a tag that exists')
    .action((name: string | undefined, ref: string | undefined, options: TagOptions, self: Command) =>
      runCommand(host, self, {
        start: async (context) => {
          if (options.delete && name === undefined)
            throw usageError('--delete needs the name of a tag. Write: dray tag NAME --delete.');
          const { tag } = await import('../../../engine/jobs/history/refs.ts');
          return tag(context, given({ name, ref, remove: options.delete, force: options.force }));
        },
        view: createRefView('tag', name),
      }),
    );
  addExamples(command, [
    ['dray tag', 'list the tags'],
    ['dray tag v1', "tag the workspace's commit"],
    ['dray tag v1 --delete', 'remove the tag'],
  ]);
}

export function addBranchCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('branch')
    .summary('list, create or remove branches')
    .description(
      "Without a name: lists the branches. With a name: creates it at the workspace's commit and stays on the current branch.",
    )
    .argument('[name]', 'the branch')
    .option('-d, --delete', 'remove the branch; its commits stay')
    .action((name: string | undefined, options: { readonly delete?: true }, self: Command) =>
      runCommand(host, self, {
        start: async (context) => {
          if (options.delete && name === undefined)
            throw usageError('--delete needs the name of a branch. Write: dray branch NAME --delete.');
          const { branch } = await import('../../../engine/jobs/history/refs.ts');
          return branch(context, given({ name, remove: options.delete }));
        },
        view: createRefView('branch', name),
      }),
    );
  addExamples(command, [
    ['dray branch', 'list the branches; * marks the current one'],
    ['dray branch relabel', "create one at the workspace's commit"],
    ['dray switch relabel', 'go to it'],
  ]);
}

function createRefView(what: 'tag' | 'branch', name: string | undefined): CommandView<RefSummary> {
  return {
    onEvent: (event: JobEvent, output: Output) => {
      if (event.type !== 'ref' || name !== undefined) return;
      const line = `${event.name}  ${formatHash(event.commit)}`;
      if (what === 'tag') output.result(line);
      else output.result(event.current ? output.paint('green', `* ${line}`) : `  ${line}`);
    },
    onSummary: (summary, output) => {
      if (summary.result !== 'listed') output.note(`The ${what} ${name} was ${summary.result}.`);
      else if (name !== undefined) output.note(`The ${what} ${name} already points to this commit.`);
      else if (summary.refs === 0)
        output.note(what === 'tag' ? 'No tags yet.' : 'No branches yet. The first push creates one.');
    },
  };
}
