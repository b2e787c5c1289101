import type { Command } from 'commander';
import { given } from '../../../engine/api/given.ts';
import type {
  ImportDvcRequest,
  ImportSummary,
  ImportVersionsRequest,
} from '../../../engine/api/jobs/imports.ts';
import { formatBytes, formatPlural } from '../../../engine/api/text/numbers.ts';
import { type CommandHost, type CommandView, runCommand, usageError } from '../command-host.ts';
import { addExamples } from '../options/examples.ts';
import { parsePause } from '../options/parse-pause.ts';

interface ImportDvcOptions {
  readonly to: string;
  readonly remote?: string;
  readonly rev?: string;
  readonly allTags?: true;
  readonly allCommits?: true;
  readonly skipMissing?: true;
}

export function addImportCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('import')
    .summary('bring datasets from other tools, with their history')
    .description('Brings the versions that another tool keeps into a repository, as commits.')
    .usage('[options] <command>')
    .enablePositionalOptions();
  addImportDvc(command, host);
  addImportFolderVersions(command, host);
}

function addImportDvc(parent: Command, host: CommandHost): void {
  const command = parent
    .command('dvc')
    .description(
      'Brings a DVC project into a repository. Data goes from the DVC remote to the repository without a copy on this disk, and is checked on the way. Files that git tracks are not data and stay there. If content is missing or damaged, it is listed and nothing is published. Run it again to continue after a stop, or to add what is new.',
    )
    .argument('<project>', 'folder with a .dvc folder, with or without git')
    .requiredOption('--to <url>', 'the repository; made if there is none')
    .option('--remote <name>', 'read all content from this DVC remote, or from a folder such as .dvc/cache')
    .option('--rev <rev>', 'one revision of git (default: HEAD)')
    .option('--all-tags', 'every tagged revision')
    .option('--all-commits', 'every revision of all branches and tags')
    .option('--skip-missing', 'leave out files whose content is missing or damaged')
    .action((project: string, options: ImportDvcOptions, self: Command) =>
      runCommand(host, self, {
        check: () => requestOf(project, options),
        start: async (context) =>
          (await import('../../../engine/jobs/import/dvc/import-dvc.ts')).importDvc(
            context,
            requestOf(project, options),
          ),
        view: VIEW,
      }),
    );
  addExamples(command, [
    ['dray import dvc . --to s3://bucket/birds', 'the state that is checked out'],
    ['dray import dvc . --all-commits --to s3://bucket/birds', 'its history, branches and tags'],
    ['dray import dvc . --rev v1 --remote .dvc/cache --to s3://bucket/v1', 'from the cache'],
  ]);
}

interface ImportVersionsOptions {
  readonly to: string;
  readonly every?: number;
  readonly branch?: string;
  readonly skipMissing?: true;
}

const EVERY_MIN_MS = 1_000;
const EVERY_MAX_MS = 3_650 * 86_400_000;

function addImportFolderVersions(parent: Command, host: CommandHost): void {
  const command = parent
    .command('folder-versions')
    .description(
      'Brings the history of a bucket that keeps versions (S3 versioning) into a repository: one commit for each day, or for another span of time, with the last version of each key in it. Data goes to the repository without a copy on this disk. If a version cannot be read, it is listed and nothing is published. Run it again to continue after a stop, or to add what is new.',
    )
    .argument('<source>', 'URL of the bucket, or of a part of it')
    .requiredOption('--to <url>', 'the repository; made if there is none')
    .option('--every <duration>', 'the span of a commit, such as 1h, 1d or 1w (default: 1d)', (text) =>
      parsePause(text, { minMs: EVERY_MIN_MS, maxMs: EVERY_MAX_MS }),
    )
    .option('--branch <name>', 'the branch that gets the commits (default: main)')
    .option('--skip-missing', 'leave out versions that cannot be read, and keys that cannot be paths')
    .action((source: string, options: ImportVersionsOptions, self: Command) =>
      runCommand(host, self, {
        start: async (context) =>
          (
            await import('../../../engine/jobs/import/folder-versions/import-folder-versions.ts')
          ).importFolderVersions(context, versionsRequestOf(source, options)),
        view: VIEW,
      }),
    );
  addExamples(command, [
    ['dray import folder-versions s3://lab/birds --to s3://bucket/birds', 'a commit for each day'],
    ['dray import folder-versions s3://lab/birds --every 1h --to s3://bucket/birds', 'for each hour'],
  ]);
}

function versionsRequestOf(source: string, options: ImportVersionsOptions): ImportVersionsRequest {
  const { branch, every: everyMs, skipMissing, to } = options;
  return { source, to, ...given({ everyMs, branch, skipMissing }) };
}

function requestOf(project: string, options: ImportDvcOptions): ImportDvcRequest {
  const { allCommits, allTags, remote, rev, skipMissing, to } = options;
  if ([allCommits, allTags, rev].filter((choice) => choice !== undefined).length > 1)
    throw usageError('Give only one of --rev, --all-tags and --all-commits.');
  return { project, to, ...given({ remote, rev, allTags, allCommits, skipMissing }) };
}

const VIEW: CommandView<ImportSummary> = {
  onSummary: (summary, output) => {
    const { commits, failed, readBytes, readFiles, refs, result, states } = summary;
    const read = `Read ${formatPlural(readFiles, 'file')} (${formatBytes(readBytes)}) of ${formatPlural(states, 'state')}.`;
    if (result === 'refused') {
      output.note(
        `${read} Nothing was published: ${formatPlural(failed, 'file')} cannot be imported. --skip-missing leaves them out.`,
      );
      return;
    }
    const left = failed > 0 ? ` Left out ${formatPlural(failed, 'file')}.` : '';
    if (result === 'upToDate')
      output.note(failed > 0 ? `Nothing is new.${left}` : 'Everything is in the repository already.');
    else
      output.result(
        `${read} Wrote ${formatPlural(commits, 'commit')} and ${formatPlural(refs, 'branch or tag', 'branches and tags')}.${left}`,
      );
  },
};
