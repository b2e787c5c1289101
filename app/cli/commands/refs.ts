import type { Command } from 'commander';
import type { JobEvent } from '../../../engine/api/events.ts';
import { given } from '../../../engine/api/given.ts';
import type { RefSummary } from '../../../engine/api/jobs/jobs.ts';
import { formatHash } from '../../../engine/api/text/numbers.ts';
import { type CommandHost, type CommandView, runCommand, usageError } from '../command-host.ts';
import { addExamples } from '../options/examples.ts';
import type { Output } from '../output/output.ts';

interface RefOptions {
  readonly delete?: true;
  readonly force?: true;
  readonly rename?: string;
}

export function addTagCommand(program: Command, host: CommandHost): void {
  const command = addRefCommand(program, host, 'tag')
    .summary('list, create, move, rename or remove tags')
    .description(
      'Without a name: lists the tags. With a name: tags a commit. A tag does not move unless you give --force.',
    )
    .argument('[name]', 'the tag')
    .argument('[ref]', "the commit to tag (default: the workspace's commit)");
  addExamples(command, [
    ['dray tag', 'list the tags'],
    ['dray tag v1', "tag the workspace's commit"],
    ['dray tag v1 --rename v1.0', 'give it another name'],
    ['dray tag v1 --delete', 'remove the tag'],
  ]);
}

export function addBranchCommand(program: Command, host: CommandHost): void {
  const command = addRefCommand(program, host, 'branch')
    .summary('list, create, move, rename or remove branches')
    .description(
      "Without a name: lists the branches. With a name: creates it at the workspace's commit, or at another one, and stays on the current branch. A branch does not move unless you give --force.",
    )
    .argument('[name]', 'the branch')
    .argument('[ref]', "the commit that it gets (default: the workspace's commit)");
  addExamples(command, [
    ['dray branch', 'list the branches; * marks the current one'],
    ['dray branch relabel', "create one at the workspace's commit"],
    ['dray branch relabel --rename labels-2', 'give it another name'],
    ['dray switch relabel', 'go to it'],
  ]);
}

/** The options that both commands share. */
function addRefCommand(program: Command, host: CommandHost, what: 'tag' | 'branch'): Command {
  return program
    .command(what)
    .option('-d, --delete', `remove the ${what}; its commits remain`)
    .option('-f, --force', `move a ${what} that exists`)
    .option('--rename <name>', `give the ${what} another name`)
    .action((name: string | undefined, ref: string | undefined, options: RefOptions, self: Command) => {
      const { delete: remove, force, rename } = options;
      return runCommand(host, self, {
        start: async (context) => {
          checkRefOptions(what, { name, ref, ...options });
          const jobs = await import('../../../engine/jobs/history/refs.ts');
          return jobs[what](context, given({ name, ref, remove, force, rename }));
        },
        view: createRefView(what, name, rename),
      });
    });
}

function checkRefOptions(
  what: string,
  {
    delete: remove,
    name,
    ref,
    rename,
  }: RefOptions & { readonly name?: string | undefined; readonly ref?: string | undefined },
): void {
  const option = remove ? '--delete' : rename === undefined ? undefined : '--rename';
  if (option === undefined) return;
  const words = `dray ${what} NAME ${option}${remove ? '' : ' NEW-NAME'}`;
  if (name === undefined) throw usageError(`${option} needs the name of a ${what}. Write: ${words}.`);
  if (ref !== undefined || (remove && rename !== undefined))
    throw usageError(`${option} takes only the name of a ${what}. Write: ${words}.`);
}

function createRefView(
  what: 'tag' | 'branch',
  name: string | undefined,
  rename: string | undefined,
): CommandView<RefSummary> {
  let commit = '';
  return {
    onEvent: (event: JobEvent, output: Output) => {
      if (event.type !== 'ref') return;
      commit = event.commit;
      if (name !== undefined) return;
      const line = `${event.name}  ${formatHash(event.commit)}`;
      if (what === 'tag') output.result(line);
      else output.result(event.current ? output.paint('green', `* ${line}`) : `  ${line}`);
    },
    onSummary: (summary, output) => {
      if (summary.result === 'renamed') output.note(`The ${what} ${name} is now ${rename}.`);
      else if (summary.result === 'removed')
        output.note(
          `The ${what} ${name} was removed. "dray ${what} ${name} ${formatHash(commit)}" makes it again.`,
        );
      else if (summary.previous !== undefined)
        output.note(
          `The ${what} ${name} was moved from ${formatHash(summary.previous)} to ${formatHash(commit)}. "dray ${what} ${name} ${formatHash(summary.previous)} --force" moves it back.`,
        );
      else if (summary.result !== 'listed') output.note(`The ${what} ${name} was ${summary.result}.`);
      else if (name !== undefined) output.note(`The ${what} ${name} already points to this commit.`);
      else if (summary.refs === 0)
        output.note(what === 'tag' ? 'No tags yet.' : 'No branches yet. The first push creates one.');
    },
  };
}
