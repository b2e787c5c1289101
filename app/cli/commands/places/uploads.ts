import type { Command } from 'commander';
import { given } from '../../../../engine/api/given.ts';
import type { UploadsSummary } from '../../../../engine/api/jobs/trees.ts';
import { formatBytes, formatPlural } from '../../../../engine/api/text/numbers.ts';
import { type CommandHost, type CommandView, runCommand } from '../../command-host.ts';
import { addExamples } from '../../options/examples.ts';
import { createAllowRepositoryOption } from '../../options/tree-options.ts';
import { parseMomentOption } from '../../output/moment.ts';
import { quotePath } from '../../output/terminal-text.ts';

interface UploadsOptions {
  readonly older?: number;
  readonly allowRepository?: true;
}

export function addUploadsCommand(program: Command, host: CommandHost): void {
  const uploads = program
    .command('uploads')
    .summary('list or abort unfinished multipart uploads')
    .description(
      'Lists or aborts multipart uploads that were started and never completed, by any program. Their parts cost storage until they are aborted.',
    )
    .usage('[options] <command>')
    .enablePositionalOptions();
  addOne(uploads, host, {
    name: 'list',
    description: 'Lists unfinished uploads with the parts that the store holds.',
    abort: false,
  });
  addOne(uploads, host, {
    name: 'abort',
    description:
      'Aborts unfinished uploads, including those of other programs. A stopped Dray transfer then uploads such a file from its start.',
    abort: true,
  });
}

function addOne(
  parent: Command,
  host: CommandHost,
  {
    abort,
    description,
    name,
  }: { readonly name: string; readonly description: string; readonly abort: boolean },
): void {
  const command = parent
    .command(name)
    .description(description)
    .argument('<place>', 's3://BUCKET/PREFIX or NAME:PREFIX')
    .option('--older <when>', 'only those started before: 7d, 12h, or a date', parseMomentOption)
    .action((place: string, options: UploadsOptions, self: Command) =>
      runCommand(host, self, {
        start: async (context) =>
          (await import('../../../../engine/jobs/one-place/uploads.ts')).uploads(context, {
            place,
            abort,
            ...given({ olderThanMs: options.older, allowRepositories: options.allowRepository }),
          }),
        view: createView(abort),
      }),
    );
  if (abort) command.addOption(createAllowRepositoryOption());
  addExamples(command, [
    [`dray uploads ${name} s3://bucket --older 7d`, 'uploads started more than a week ago'],
  ]);
}

function createView(abort: boolean): CommandView<UploadsSummary> {
  return {
    onEvent: (event, output) => {
      if (event.type !== 'upload') return;
      const size = `${formatPlural(event.parts, 'part')}, ${formatBytes(event.bytes)}`;
      output.result(`${event.started}  ${quotePath(event.path)}  ${size}`);
    },
    onSummary: ({ aborted, place, uploads }, output) => {
      output.note(
        abort
          ? `Removed ${formatPlural(aborted, 'pending upload')} at ${place}.`
          : `${formatPlural(uploads, 'pending upload')} at ${place}.`,
      );
    },
  };
}
