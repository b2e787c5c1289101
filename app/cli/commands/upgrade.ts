import type { Command } from 'commander';
import { formatPlural } from '../../../engine/api/numbers.ts';
import type { UpgradeSummary } from '../../../engine/api/repositories.ts';
import { type CommandHost, type CommandView, runCommand } from '../command-host.ts';
import { addExamples } from '../options/examples.ts';

export function addUpgradeCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('upgrade')
    .summary('let an older repository collect garbage')
    .description(
      'Lets a repository that an older Dray made collect garbage (dray gc). From then on older versions refuse it and ask for an upgrade of Dray. End their pushes first. Content and commits stay as they are.',
    )
    .action((_: unknown, self: Command) =>
      runCommand(host, self, {
        start: async (context) => (await import('../../../engine/jobs/remotes/upgrade.ts')).upgrade(context),
        view: upgradeView,
      }),
    );
  addExamples(command, [['dray upgrade', 'once for each repository, from any workspace']]);
}

const upgradeView: CommandView<UpgradeSummary> = {
  onSummary: ({ refs, result }, output) => {
    if (result === 'upToDate') output.note('The repository is up to date.');
    else output.note(`Upgraded: ${formatPlural(refs, 'branch or tag', 'branches and tags')}.`);
  },
};
