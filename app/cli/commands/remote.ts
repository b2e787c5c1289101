import type { Command } from 'commander';
import { given } from '../../../engine/api/given.ts';
import type { RemoteTestSummary } from '../../../engine/api/jobs/jobs.ts';
import { formatPlural } from '../../../engine/api/text/numbers.ts';
import { type CommandHost, type CommandView, EXIT_FAILED, runCommand } from '../command-host.ts';
import { addExamples } from '../options/examples.ts';
import { printCheck } from '../output/check-lines.ts';

const loadJobs = () => import('../../../engine/jobs/remotes/remotes.ts');

export function addRemoteCommand(program: Command, host: CommandHost): void {
  const remote = program
    .command('remote')
    .summary('manage the remotes of this workspace')
    .description(
      'Adds, lists, removes and tests remotes: the repositories that this workspace pushes to and pulls from.',
    )
    .usage('[options] <command>')
    .enablePositionalOptions();
  addAdd(remote, host);
  addList(remote, host);
  addRemove(remote, host);
  addTest(remote, host);
}

function addAdd(remote: Command, host: CommandHost): void {
  const command = remote
    .command('add')
    .description(
      'Adds a remote to this workspace. The first push creates a repository there if none exists. --endpoint, --region, --profile, --path-style and --anonymous are stored with the URL.',
    )
    .argument('<name>', 'such as origin or backup')
    .argument('<url>', 's3://BUCKET/PREFIX, dray://HOST:PORT/FOLDER, or a folder')
    .option('--user', 'add it for this user in every folder, as NAME:PREFIX in copy, sync and others')
    .action((name: string, url: string, { user = false }: { readonly user?: boolean }, self: Command) =>
      runCommand(host, self, {
        start: async (context) => (await loadJobs()).remoteAdd(context, { name, url, user }),
        view: { onSummary: (_summary, output) => output.note(`Remote ${name} is ${url}.`) },
      }),
    );
  addExamples(command, [
    ['dray remote add backup s3://elsewhere/birds', 'then: dray push --remote backup'],
    ['dray remote add --user r2 s3://bucket --endpoint https://...', 'then: dray copy photos r2:photos'],
  ]);
}

function addList(remote: Command, host: CommandHost): void {
  const command = remote
    .command('list')
    .description("Lists the workspace's remotes.")
    .option('--user', "list this user's own remotes, which every folder knows")
    .action(({ user = false }: { readonly user?: boolean }, self: Command) =>
      runCommand(host, self, {
        start: async (context) => (await loadJobs()).remoteList(context, { user }),
        view: {
          onEvent: (event, output) => {
            if (event.type === 'remote')
              output.result(`${event.isDefault ? '*' : ' '} ${event.name}  ${event.url}`);
          },
          onSummary: () => {},
        },
      }),
    );
  addExamples(command, [['dray remote list', '* marks the default one']]);
}

function addRemove(remote: Command, host: CommandHost): void {
  const command = remote
    .command('remove')
    .description('Removes a remote from the workspace. The stored data stays.')
    .argument('<name>', 'the remote')
    .option('--user', "remove one of this user's own remotes")
    .action((name: string, { user = false }: { readonly user?: boolean }, self: Command) =>
      runCommand(host, self, {
        start: async (context) => (await loadJobs()).remoteRemove(context, { name, user }),
        view: {
          onSummary: (_summary, output) => output.note(`Remote ${name} was removed. The stored data stays.`),
        },
      }),
    );
  addExamples(command, [['dray remote remove backup', 'forget it']]);
}

function addTest(remote: Command, host: CommandHost): void {
  const command = remote
    .command('test')
    .description(
      'Tests everything that Dray needs from a store: conditional writes, checksums, ranges, listing order, multipart. Works below a prefix of its own and removes it afterwards. Exit code 1: a check failed.',
    )
    .argument('[target]', "a URL, or a remote's name (default: the remote that a push uses)")
    .action((target: string | undefined, _options: object, self: Command) =>
      runCommand(host, self, {
        start: async (context) => (await loadJobs()).remoteTestTarget(context, given({ target })),
        view: testView,
      }),
    );
  addExamples(command, [
    ['dray remote test', "this workspace's remote"],
    ['dray remote test nas', 'a remote added by "remote add --user"'],
    ['dray remote test s3://bucket/some/prefix', 'before the first push'],
  ]);
}

const testView: CommandView<RemoteTestSummary> = {
  onEvent: printCheck,
  onSummary: ({ url, ok, failed, warnings, safeForTwoWriters, latencyMs }, output) => {
    const counts = `${formatPlural(ok, 'check')} passed, ${failed} failed, ${formatPlural(warnings, 'warning')}`;
    output.note(`${url}: ${counts}; ${latencyMs.toFixed(1)} ms per small request.`);
    // An unreachable store was not tested, so it gets no verdict.
    if (ok === 0) return;
    output.note(
      safeForTwoWriters
        ? 'Two writers at once are safe here.'
        : 'Two writers at once are NOT safe here. Push from one machine at a time.',
    );
  },
  exitCode: ({ failed }) => (failed > 0 ? EXIT_FAILED : 0),
};
