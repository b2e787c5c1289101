import type { Command } from 'commander';
import { given } from '../../../engine/api/given.ts';
import type { KeptFilesSummary, PutBackSummary } from '../../../engine/api/jobs/kept-files.ts';
import { formatBytes, formatCount, formatPlural } from '../../../engine/api/text/numbers.ts';
import { type CommandHost, type CommandView, runCommand } from '../command-host.ts';
import { addExamples } from '../options/examples.ts';
import { formatKept } from '../output/kept-line.ts';
import { quotePath } from '../output/terminal-text.ts';

const loadJob = () => import('../../../engine/jobs/kept/kept-files.ts');
const PATHS_SHOWN = 10;

export function addKeptCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('kept')
    .summary('list and restore overwritten files')
    .description(
      'Lists local files that a pull or a restore overwrote and that no commit has. They are kept in .dray/kept for 30 days.',
    )
    .action((_options: unknown, self: Command) =>
      runCommand(host, self, {
        start: async (context) => (await loadJob()).listKept(context),
        view: listView,
      }),
    );
  const restore = command
    .command('restore')
    .summary('put files back')
    .description('Moves the files of a run back to their paths. Files that they replace are kept too.')
    .argument('<id>', 'the run, as "dray kept" shows it')
    .argument('[path...]', 'only these files (default: all of the run)')
    .action((id: string, paths: string[], _options: unknown, self: Command) =>
      runCommand(host, self, {
        start: async (context) =>
          (await loadJob()).putBackKept(context, { id, ...(paths.length > 0 ? { paths } : {}) }),
        view: putBackView,
      }),
    );
  addExamples(restore, [['dray kept restore 1795446000000-5f2c81d0', 'all files of that run']]);
  const clear = command
    .command('clear')
    .summary('remove kept files')
    .description('Removes the kept files of one run, or all of them. They cannot be restored.')
    .argument('[id]', 'the run (default: all)')
    .action((id: string | undefined, _options: unknown, self: Command) =>
      runCommand(host, self, {
        start: async (context) => (await loadJob()).clearKept(context, given({ id })),
        view: { onSummary: ({ removed }, output) => output.note(`Removed ${formatPlural(removed, 'run')}.`) },
      }),
    );
  addExamples(clear, [['dray kept clear', 'remove all kept files']]);
  addExamples(command, [['dray kept', 'what was overwritten, and when']]);
}

const listView: CommandView<KeptFilesSummary> = {
  onSummary: ({ bytes, days, files, runs }, output) => {
    for (const run of runs) {
      output.result(`${run.id}  ${run.time}  ${quotePath(run.command)}`);
      for (const path of run.paths.slice(0, PATHS_SHOWN)) output.result(`  ${quotePath(path)}`);
      const more = run.files - Math.min(run.paths.length, PATHS_SHOWN);
      if (more > 0) output.result(`  and ${formatCount(more)} more`);
    }
    output.note(`${formatPlural(files, 'file')}, ${formatBytes(bytes)}. Each is kept for ${days} days.`);
  },
};

const putBackView: CommandView<PutBackSummary> = {
  onSummary: ({ kept, restored }, output) => {
    output.note(`Put back ${formatPlural(restored, 'file')}.`);
    for (const line of formatKept(kept)) output.note(line);
  },
};
