import { type Command, InvalidArgumentError, Option } from 'commander';
import { given } from '../../../../engine/api/given.ts';
import {
  SAMPLE_DAYS,
  type VerifyRequest,
  type VerifySample,
  type VerifySummary,
} from '../../../../engine/api/jobs/jobs.ts';
import {
  formatAffected,
  formatBytes,
  formatCount,
  formatPlural,
} from '../../../../engine/api/text/numbers.ts';
import { type CommandHost, type CommandView, EXIT_FAILED, runCommand } from '../../command-host.ts';
import { addExamples } from '../../options/examples.ts';
import { createBandwidthOption } from '../../options/global-options.ts';
import { printCheck } from '../../output/check-lines.ts';
import { parseSize } from '../../output/format.ts';

export interface DataOptions {
  /** True if given without a number: read everything. */
  readonly readData?: number | true;
  /** True if given without a value: today's part. */
  readonly sample?: SampleOption | true;
}

type SampleOption = VerifySample | { readonly kind: 'percent'; readonly percent: number };

export function addVerifyCommand(program: Command, host: CommandHost): void {
  const command = program
    .command('verify')
    .summary('check that the remote has everything its commits need')
    .description(
      'Checks that every object that a commit needs is on the remote with the right size. --read-data downloads all or some of the objects and verifies their content too. --sample reads a bounded part: without a value another thirtieth on each day, so 30 days cover everything. Exit code 1: something is missing or damaged.',
    )
    .argument('[ref]', 'a branch, a tag or a commit (default: all commits of all branches and tags)');
  addDataOptions(command);
  command
    .addOption(createBandwidthOption())
    .action((ref: string | undefined, options: DataOptions, self: Command) =>
      runCommand(host, self, {
        start: async (context) =>
          (await import('../../../../engine/jobs/history/last-verified.ts')).verifyAndRecord(context, {
            ...given({ ref }),
            ...dataRequestOf(options),
          }),
        view: verifyView,
      }),
    );
  addExamples(command, [
    ['dray verify', 'is everything there?'],
    ['dray verify v1 --read-data=5', 'and is a twentieth of it intact?'],
    ['dray verify --sample', 'each day: is today’s thirtieth intact?'],
  ]);
}

/** The options of `verify` and `repair` that say what to read. */
export function addDataOptions(command: Command): void {
  command
    .option('--read-data [percent]', 'percentage of the data to read and hash (default: 100)', parsePercent)
    .addOption(
      new Option(
        '--sample [part]',
        'read and hash a part: 3/7 (the third of seven), 500 (objects), 2G (bytes) or 5% (default: today’s thirtieth)',
      )
        .argParser(parseSample)
        .conflicts('readData'),
    );
}

/** The same, in the request. */
export function dataRequestOf({
  readData,
  sample,
}: DataOptions): Pick<VerifyRequest, 'readDataPercent' | 'sample'> {
  if (sample === true) return { sample: { kind: 'today' } };
  if (sample?.kind === 'percent') return { readDataPercent: sample.percent };
  return given({ readDataPercent: readData === true ? 100 : readData, sample });
}

function parseSample(text: string): SampleOption {
  const [, part, of] = /^(\d{1,6})\/(\d{1,6})$/.exec(text)?.map(Number) ?? [];
  if (part !== undefined && of !== undefined && part >= 1 && part <= of) return { kind: 'part', part, of };
  if (/^\d{1,9}$/.test(text) && Number(text) > 0) return { kind: 'objects', count: Number(text) };
  if (text.endsWith('%')) return { kind: 'percent', percent: parsePercent(text) };
  const bytes = parseSize(text);
  if (bytes !== undefined && bytes > 0 && !text.includes('/')) return { kind: 'bytes', bytes };
  throw new InvalidArgumentError(
    'Give a part such as 3/7, a number of objects, a size such as 2G, or 5%. Put a ref before --sample.',
  );
}

export function parsePercent(text: string): number {
  const percent = Number(text.replace(/%$/, ''));
  if (text !== '' && percent >= 0 && percent <= 100) return percent;
  throw new InvalidArgumentError('Give a number from 0 to 100. Put a ref before --read-data.');
}

const verifyView: CommandView<VerifySummary> = {
  onEvent: printCheck,
  onSummary: (summary, output) => {
    const read = summary.readBytes > 0 ? `, ${formatBytes(summary.readBytes)} read and hashed` : '';
    const left = summary.forgotten > 0 ? ` (without ${formatCount(summary.forgotten)} forgotten)` : '';
    const scope = `${formatPlural(summary.commits, 'commit')}${left}, ${formatPlural(summary.files, 'file')}, ${formatPlural(summary.objects, 'object')}${read}`;
    if (!isBroken(summary)) {
      output.note(`Everything is there: ${scope}, ${formatPlural(summary.requests.total, 'request')}.`);
      for (const line of sampleLines(summary)) output.note(line);
      return;
    }
    output.result(
      `${formatCount(summary.missing)} missing and ${formatCount(summary.damaged)} damaged of ${scope}: ${formatAffected(summary.affectedPaths)}.`,
    );
    // Without reading, a repair would not find what only reading has found.
    const repair = summary.damaged > 0 && summary.readBytes > 0 ? 'dray repair --read-data' : 'dray repair';
    output.note(`"${repair}" puts back what a workspace still has. Run it in one that has those files.`);
  },
  exitCode: (summary) => (isBroken(summary) ? EXIT_FAILED : 0),
};

/** What a run that read a part of the objects can say about the rest. */
function sampleLines({ objects, readBytes, readObjects, sample, storedBytes }: VerifySummary): string[] {
  if (readObjects === objects || (readObjects === 0 && sample === undefined)) return [];
  const read = `${formatCount(readObjects)} of ${formatPlural(objects, 'object')}, ${formatBytes(readBytes)} of ${formatBytes(storedBytes)}`;
  const share = readObjects / objects;
  const many = objects > 100 ? `; if 100 were, all of them with ${chanceToMiss(100, share)}` : '';
  const lines = [
    `Read ${read}. If one object were damaged, this run would have missed it with a chance of ${chanceToMiss(1, share)}${many}.`,
  ];
  if (sample !== undefined) {
    const [part = 0, of = 0] = sample.split('/').map(Number);
    const next = `${(part % of) + 1}/${of}`;
    const daily = of === SAMPLE_DAYS ? ', or tomorrow "dray verify --sample"' : '';
    lines.push(
      `This was part ${sample}. All parts together are everything; the next is "dray verify --sample=${next}"${daily}.`,
    );
  }
  return lines;
}

/** As every object is equally likely to be read. */
function chanceToMiss(damagedObjects: number, share: number): string {
  const percent = 100 * (1 - share) ** damagedObjects;
  return percent < 1 ? 'less than 1 %' : `${Math.floor(percent)} %`;
}

function isBroken({ missing, damaged }: VerifySummary): boolean {
  return missing + damaged > 0;
}
