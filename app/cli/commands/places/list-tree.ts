import type { Command } from 'commander';
import type { EntryEvent } from '../../../../engine/api/events.ts';
import { given } from '../../../../engine/api/given.ts';
import type { ListTreeSummary } from '../../../../engine/api/jobs/list-tree.ts';
import type { ListPlaceSummary } from '../../../../engine/api/jobs/trees.ts';
import { formatBytes, formatHash, formatPlural } from '../../../../engine/api/text/numbers.ts';
import { type CommandHost, type CommandView, runCommand, usageError } from '../../command-host.ts';
import { addExamples } from '../../options/examples.ts';
import { addFilterOptions, type FilterOptions, toFilter } from '../../options/filter-options.ts';
import { quotePath } from '../../output/terminal-text.ts';
import { formatRequests } from '../../output/transfer-line.ts';

interface ListTreeOptions extends FilterOptions {
  readonly recursive?: true;
  readonly long?: true;
}

export function addListTreeCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('ls')
    .summary('list the files of a commit or a place')
    .description(
      'Lists the files of a commit without downloading them, or the files at a place: s3://BUCKET/PREFIX, NAME:PREFIX of a named remote, or a local path that begins with "/" or ".".',
    )
    .argument('[ref]', "a branch, a tag or a commit (default: the workspace's commit); or a place")
    .argument('[path]', 'a folder or a file of the commit')
    .option('-r, --recursive', 'list all levels, not one')
    .option(
      '-l, --long',
      'show mode, size and time; the time of an object takes a HEAD each, unless --use-server-modtime shows its upload time',
    )
    .action((ref: string | undefined, path: string | undefined, options: ListTreeOptions, self: Command) => {
      if (ref !== undefined && isPlace(ref)) {
        if (path !== undefined)
          throw usageError('A place takes no second argument. Write the place and the path as one.');
        return listPlaceNow(host, self, ref, options);
      }
      return runCommand(host, self, {
        start: async (context) => {
          if (toFilter(options, context))
            throw usageError('Filters work on places, not on commits. Name a folder of the commit instead.');
          const { listTree } = await import('../../../../engine/jobs/history/list-tree.ts');
          return listTree(context, given({ ref, path, recursive: options.recursive }));
        },
        view: createListTreeView(options),
      });
    });
  addFilterOptions(command);
  addExamples(command, [
    ['dray ls', "the workspace's commit"],
    ['dray ls v1 images -r -l', 'everything below images/ in tag v1'],
    ['dray ls s3://bucket/photos/ -l', 'objects and folders there'],
  ]);
}

/** No ref can look like a place. */
function isPlace(text: string): boolean {
  return /^(?:[A-Za-z0-9][A-Za-z0-9._-]+(?:@[^:]+)?:|\/|\.\.?(?:\/|$)|[A-Za-z]:[\\/])/.test(text);
}

function listPlaceNow(
  host: CommandHost,
  self: Command,
  place: string,
  options: ListTreeOptions,
): Promise<void> {
  return runCommand<ListPlaceSummary>(host, self, {
    start: async (context) =>
      (await import('../../../../engine/jobs/one-place/list-place.ts')).listPlace(context, {
        place,
        ...given({
          withTimes: options.long && !options.useServerModtime ? true : undefined,
          recursive: options.recursive,
          filter: toFilter(options, context),
        }),
      }),
    view: {
      onEvent: (event, output) => {
        if (event.type === 'entry')
          output.result(options.long ? formatLongEntry(event) : quotePath(event.path));
      },
      onSummary: ({ bytes, entries, place: at, requests }, output) => {
        if (!options.long) return;
        const what = `${formatPlural(entries, 'entry', 'entries')}, ${formatBytes(bytes)}`;
        output.note(`${what} at ${at}${formatRequests(requests)}.`);
      },
    },
  });
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

/** The commit keeps seconds since the epoch with a fraction. Lines show UTC to the second. */
function formatModified(seconds: string): string {
  const time = new Date(Number(seconds) * 1000);
  return Number.isNaN(time.getTime()) ? seconds : time.toISOString().replace('T', ' ').slice(0, 19);
}
