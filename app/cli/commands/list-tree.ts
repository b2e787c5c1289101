import type { Command } from 'commander';
import type { EntryEvent } from '../../../engine/api/events.ts';
import type { ListTreeSummary } from '../../../engine/api/jobs.ts';
import { type CommandHost, type CommandView, runCommand } from '../command-host.ts';
import { addExamples } from '../examples.ts';
import { formatBytes, formatHash, formatPlural } from '../format.ts';
import { given } from '../given.ts';
import { quotePath } from '../quote-path.ts';

interface ListTreeOptions {
  readonly recursive?: true;
  readonly long?: true;
}

export function addListTreeCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('ls')
    .summary('what a commit holds')
    .description('Lists what a commit holds, without downloading any of it.')
    .argument('[ref]', "a branch, a tag or a commit (default: the workspace's commit)")
    .argument('[path]', 'a folder or a file in it')
    .option('-r, --recursive', 'everything below, not one level')
    .option('-l, --long', 'mode, size and time as well')
    .action((ref: string | undefined, path: string | undefined, options: ListTreeOptions, self: Command) =>
      runCommand(host, self, {
        start: async (context) =>
          (await import('../../../engine/jobs/list-tree.ts')).listTree(
            context,
            given({ ref, path, recursive: options.recursive }),
          ),
        view: createListTreeView(options),
      }),
    );
  addExamples(command, [
    ['dray ls', "the workspace's commit"],
    ['dray ls v1 images -r -l', 'all below images/ in tag v1'],
  ]);
}

function createListTreeView({ long }: ListTreeOptions): CommandView<ListTreeSummary> {
  return {
    onEvent: (event, output) => {
      if (event.type === 'entry') output.result(long ? formatLongEntry(event) : quotePath(event.path));
    },
    onSummary: ({ commit, entries, bytes }, output) => {
      if (long)
        output.note(
          `${formatPlural(entries, 'entry', 'entries')}, ${formatBytes(bytes)} in ${formatHash(commit)}.`,
        );
    },
  };
}

function formatLongEntry(entry: EntryEvent): string {
  const mode = { file: entry.executable ? 'x' : '-', link: 'l', folder: 'd' }[entry.kind];
  const size = entry.kind === 'file' ? formatBytes(entry.sizeBytes) : '';
  const time = entry.mtime === undefined ? '' : formatModified(entry.mtime);
  const target = entry.target === undefined ? '' : ` -> ${quotePath(entry.target)}`;
  return `${mode}  ${size.padStart(9)}  ${time.padEnd(19)}  ${quotePath(entry.path)}${target}`;
}

/** The commit keeps seconds since the epoch with their fraction; people get UTC to the second. */
function formatModified(seconds: string): string {
  const time = new Date(Number(seconds) * 1000);
  return Number.isNaN(time.getTime()) ? seconds : time.toISOString().replace('T', ' ').slice(0, 19);
}
