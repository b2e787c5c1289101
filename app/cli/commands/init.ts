import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { given } from '../../../engine/api/given.ts';
import type { InitRequest, InitSummary } from '../../../engine/api/jobs/jobs.ts';
import { type CommandHost, type CommandView, runCommand } from '../command-host.ts';
import { compressOption } from '../options/compress-option.ts';
import { addExamples } from '../options/examples.ts';
import { parseSizeOption, readGlobalOptions } from '../options/global-options.ts';
import { quotePath } from '../output/terminal-text.ts';

interface InitOptions {
  readonly remote: string;
  readonly name?: string;
  readonly branch?: string;
  readonly layout?: 'packs' | 'objects';
  readonly packBelow?: number;
  readonly chunkAbove?: number;
  readonly compress?: 'auto' | 'off' | 'max';
  readonly encrypt?: boolean;
}

export function addInitCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('init')
    .summary('make a folder a workspace of a new or existing repository')
    .description(
      'Makes a folder a workspace of the repository at a URL. Creates the repository if none exists there, and joins it otherwise. Sends no files yet.',
    )
    .argument('[dir]', 'the folder (default: this one)')
    .requiredOption('--remote <url>', 's3://BUCKET/PREFIX, or a folder')
    .option('--name <name>', "the remote's name in this workspace (default: origin)")
    .option('--branch <branch>', 'the first branch (default: main)')
    .addOption(
      new Option('--layout <kind>', 'pack small files (the default), or store one object per file').choices([
        'packs',
        'objects',
      ]),
    )
    .option(
      '--pack-below <size>',
      'pack files below this size (default: 1MiB, encrypted 8MiB; 0: none)',
      parseSizeOption,
    )
    .option(
      '--chunk-above <size>',
      'cut files above this size into chunks (default: 64MiB, encrypted 8MiB; 0: none)',
      parseSizeOption,
    )
    .addOption(compressOption('the default'))
    .option('--encrypt', 'make an encrypted repository, with a password')
    .action((directory: string | undefined, options: InitOptions, self: Command) =>
      runCommand(host, self, {
        directory: resolve(readGlobalOptions(self).directory, directory ?? '.'),
        start: async (context) =>
          (await import('../../../engine/jobs/remotes/init.ts')).initWorkspace(
            context,
            toRequest(options, readGlobalOptions(self).directory),
          ),
        view: initView,
      }),
    );
  addExamples(command, [
    ['dray init --remote s3://bucket/datasets/birds', 'this folder, stored on AWS'],
    ['dray init photos --remote file:///mnt/nas/photos', 'stored in a plain folder'],
    ['dray init --remote s3://bucket/private --encrypt', 'encrypted; asks for a password'],
    ['dray init --remote s3://birds/2026 --endpoint https://s3.example.org', 'any S3-compatible store'],
  ]);
}

/** A relative URL is resolved against the folder that the command runs in, not the new workspace. */
function toRequest(options: InitOptions, relativeTo: string): InitRequest {
  const layout = given({
    kind: options.layout,
    packBelow: options.packBelow,
    chunkAbove: options.chunkAbove,
  });
  return {
    remoteUrl: options.remote,
    relativeTo,
    ...given({
      remoteName: options.name,
      branch: options.branch,
      compression: options.compress,
      encrypt: options.encrypt,
    }),
    ...(Object.keys(layout).length > 0 ? { layout } : {}),
  };
}

const initView: CommandView<InitSummary> = {
  onSummary: (summary, output) => {
    const what = summary.created ? 'a new repository' : 'an existing repository';
    output.note(`${quotePath(summary.workspace)} is now a workspace of ${what} at ${summary.remoteUrl}.`);
    if (summary.recoveryKey !== undefined) {
      output.note('The repository is encrypted. Without a password or this recovery key nobody can read it:');
      output.note(`  ${summary.recoveryKey}`);
      output.note('Write the recovery key down. It is not shown again.');
    }
    const next = summary.created ? 'dray push -m "first version"' : 'dray pull';
    output.note(`On branch ${summary.branch}. Next: ${next}`);
  },
};
