import type { Command } from 'commander';
import { given } from '../../../../engine/api/given.ts';
import type { UpgradeSummary } from '../../../../engine/api/jobs/repositories.ts';
import { formatPlural } from '../../../../engine/api/text/numbers.ts';
import { type CommandHost, type CommandView, runCommand } from '../../command-host.ts';
import { compressOption } from '../../options/compress-option.ts';
import { addExamples } from '../../options/examples.ts';

interface UpgradeOptions {
  readonly compress?: 'auto' | 'off' | 'max';
}

export function addUpgradeCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('upgrade')
    .summary('let an older repository collect garbage; switch compression on or off')
    .description(
      'Lets a repository that an older Dray made collect garbage (dray gc). From then on older versions refuse it and ask for an upgrade of Dray. End their pushes first. Content and commits stay as they are. --compress changes how new content is stored.',
    )
    .addOption(compressOption())
    .action((options: UpgradeOptions, self: Command) =>
      runCommand(host, self, {
        start: async (context) =>
          (await import('../../../../engine/jobs/remotes/upgrade.ts')).upgrade(
            context,
            given({ compression: options.compress }),
          ),
        view: upgradeView,
      }),
    );
  addExamples(command, [
    ['dray upgrade', 'once for each repository, from any workspace'],
    ['dray upgrade --compress auto', 'compress new content of a repository that did not'],
  ]);
}

const upgradeView: CommandView<UpgradeSummary> = {
  onSummary: ({ compression, refs, result }, output) => {
    if (result === 'upToDate') output.note('The repository is up to date.');
    else output.note(`Upgraded: ${formatPlural(refs, 'branch or tag', 'branches and tags')}.`);
    output.note(`New content is compressed: ${compression}.`);
  },
};
