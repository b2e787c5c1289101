import type { Command } from 'commander';
import { given } from '../../../../engine/api/given.ts';
import type { JobContext } from '../../../../engine/api/jobs/jobs.ts';
import type {
  KeyChangeSummary,
  KeyListSummary,
  KeySlotRecord,
} from '../../../../engine/api/jobs/repositories.ts';
import { type CommandHost, type CommandView, runCommand } from '../../command-host.ts';
import { addExamples } from '../../options/examples.ts';
import { formatTable } from '../../output/table.ts';

const loadJobs = () => import('../../../../engine/jobs/remotes/keys.ts');

export function addKeyCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('key')
    .summary('passwords of an encrypted repository')
    .description(
      'Lists, adds, removes and changes the passwords and recovery keys of an encrypted repository. Each opens the same content. Removing one re-encrypts nothing: who had the password may have kept the key behind it.',
    )
    .usage('[options] <command>')
    .enablePositionalOptions();
  addList(command, host);
  addAdd(command, host);
  addRemove(command, host);
  addChange(command, host);
}

function addList(key: Command, host: CommandHost): void {
  const command = key
    .command('list')
    .description('Lists the keys. Needs no password.')
    .action((_: unknown, self: Command) =>
      runCommand(host, self, {
        start: async (context) => (await loadJobs()).listKeys(context),
        view: listView,
      }),
    );
  addExamples(command, [['dray key list', 'who can open the repository']]);
}

function addAdd(key: Command, host: CommandHost): void {
  const command = key
    .command('add')
    .description(
      'Adds a password, or with --recovery a recovery key, which is printed once. The new password comes from a question, DRAY_NEW_PASSWORD, DRAY_NEW_PASSWORD_FILE or DRAY_NEW_PASSWORD_COMMAND.',
    )
    .option('--label <text>', 'whose key it is; readable by everybody')
    .option('--recovery', 'make a recovery key')
    .action((options: { readonly label?: string; readonly recovery?: true }, self: Command) =>
      runChange(host, self, async (context) =>
        (await loadJobs()).addKey(context, {
          kind: options.recovery ? 'recovery' : 'password',
          ...given({ label: options.label }),
        }),
      ),
    );
  addExamples(command, [
    ['dray key add --label ada', 'a second password'],
    ['dray key add --recovery', 'another recovery key'],
  ]);
}

function addRemove(key: Command, host: CommandHost): void {
  const command = key
    .command('remove')
    .description('Removes a key other than the one whose password is given. Re-encrypts nothing.')
    .argument('<id>', 'its first digits, as "dray key list" prints them')
    .action((id: string, _: unknown, self: Command) =>
      runChange(host, self, async (context) => (await loadJobs()).removeKey(context, id)),
    );
  addExamples(command, [['dray key remove 3f2a90c1', 'by the id that "dray key list" prints']]);
}

function addChange(key: Command, host: CommandHost): void {
  const command = key
    .command('passwd')
    .description('Replaces the password that is given. With a recovery key, adds a new password instead.')
    .action((_: unknown, self: Command) =>
      runChange(host, self, async (context) => (await loadJobs()).changePassword(context)),
    );
  addExamples(command, [['dray key passwd', 'asks for the old and the new password']]);
}

function runChange(
  host: CommandHost,
  self: Command,
  start: (context: JobContext) => Promise<KeyChangeSummary>,
): Promise<void> {
  return runCommand(host, self, { start, view: changeView });
}

const listView: CommandView<KeyListSummary> = {
  onSummary: ({ damaged, keys }, output) => {
    const rows = keys.map((key) => [key.id, key.kind, key.created, key.label]);
    for (const line of formatTable(rows, ['left', 'left', 'left', 'left'])) output.result(line);
    for (const message of damaged) output.problem('warning', message);
  },
};

const WORDS: Readonly<Record<KeyChangeSummary['result'], string>> = {
  added: 'Added',
  removed: 'Removed',
  changed: 'Changed the password. The new key is',
};

const changeView: CommandView<KeyChangeSummary> = {
  onSummary: ({ key, recoveryKey, result }, output) => {
    output.note(`${WORDS[result]} ${describeKey(key)}.`);
    if (recoveryKey === undefined) return;
    output.note('Write the recovery key down. It is not shown again:');
    output.note(`  ${recoveryKey}`);
  },
};

function describeKey({ id, kind, label }: KeySlotRecord): string {
  return `the ${kind} key ${id}${label === '' ? '' : ` (${label})`}`;
}
