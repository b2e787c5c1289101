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
    .summary('list, make, move or remove tags')
    .description(
      'Without a name: lists the tags. With one: gives it to a commit. A tag stays where it is unless --force moves it.',
    )
    .argument('[name]', 'the tag')
    .argument('[ref]', "what it names (default: the workspace's commit)")
    .option('-d, --delete', 'remove the tag; its commit stays')
    .option('-f, --force', 'move a tag that exists')
    .action((name: string | undefined, ref: string | undefined, options: TagOptions, self: Command) =>
      runCommand(host, self, {
        start: async (context) => {
          if (options.delete && name === undefined)
            throw usageError('Which tag? Give its name: dray tag NAME --delete.');
          const { tag } = await import('../../../engine/jobs/history/refs.ts');
          return tag(context, given({ name, ref, remove: options.delete, force: options.force }));
        },
        view: createRefView('tag', name),
      }),
    );
  addExamples(command, [
    ['dray tag', 'list the tags'],
    ['dray tag v1', "name the workspace's commit"],
    ['dray tag v1 --delete', 'remove the name'],
  ]);
}

export function addBranchCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('branch')
    .summary('list, make or remove branches')
    .description(
      "Without a name: lists the branches. With one: makes it at the workspace's commit and stays on the current one.",
    )
    .argument('[name]', 'the branch')
    .option('-d, --delete', 'remove the branch; its commits stay')
    .action((name: string | undefined, options: { readonly delete?: true }, self: Command) =>
      runCommand(host, self, {
        start: async (context) => {
          if (options.delete && name === undefined)
            throw usageError('Which branch? Give its name: dray branch NAME --delete.');
          const { branch } = await import('../../../engine/jobs/history/refs.ts');
          return branch(context, given({ name, remove: options.delete }));
        },
        view: createRefView('branch', name),
      }),
    );
  addExamples(command, [
    ['dray branch', 'list the branches; * marks the current one'],
    ['dray branch relabel', 'make one here'],
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
      else if (name !== undefined) output.note(`The ${what} ${name} names this commit already.`);
      else if (summary.refs === 0)
        output.note(what === 'tag' ? 'No tags yet.' : 'No branches yet: the first push makes one.');
    },
  };
}
