/** The options of commands on plain trees, and the requests that they make. */
import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { DrayError } from '../../engine/api/error.ts';
import type { ConnectionFlags } from '../../engine/api/jobs.ts';
import type {
  CompareMode,
  FilterRule,
  PlaceRequest,
  SyncRequest,
  TreeFilterRequest,
} from '../../engine/api/trees.ts';
import { parseFilterFile } from '../../engine/model/tree-filter.ts';
import { parseSize } from './format.ts';
import { given } from './given.ts';
import { parseSizeOption } from './global-options.ts';
import { parseMoment } from './moment.ts';

/** Rules in the order given on the command line, whichever option each came by. */
interface GivenRules {
  readonly rules: readonly FilterRule[];
  /** `--include` came first: what no rule matches is left out. */
  readonly isInclusive: boolean;
}

export interface FilterOptions {
  readonly rules?: GivenRules;
  readonly filesFrom?: string;
  readonly minSize?: number;
  readonly maxSize?: number;
  readonly newer?: number;
  readonly older?: number;
}

export interface PairOptions extends FilterOptions {
  readonly checksum?: true;
  readonly sizeOnly?: true;
  /** False after `--no-index`. */
  readonly index: boolean;
  readonly sourceEndpoint?: string;
  readonly sourceRegion?: string;
  readonly sourceProfile?: string;
  readonly sourcePathStyle?: true;
  readonly destEndpoint?: string;
  readonly destRegion?: string;
  readonly destProfile?: string;
  readonly destPathStyle?: true;
}

export interface CopyOptions extends PairOptions {
  readonly dryRun?: true;
  readonly explain?: true;
  readonly update?: true;
  /** False after `--no-check-dest`. */
  readonly checkDest: boolean;
  readonly immutable?: true;
  readonly backupDir?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly storageClass?: string;
  readonly contentType?: string;
  readonly partSize?: number;
  readonly bwlimit?: number;
  readonly delta: boolean;
  readonly links?: true;
  readonly maxDelete?: SyncRequest['maxDelete'];
}

export function addFilterOptions(command: Command): void {
  const rule = (action: FilterRule['action']) => (pattern: string, before: GivenRules | undefined) =>
    addRules(before, [{ action, pattern }], action === 'include');
  // All three keep their rules under one name, so that their order counts.
  const asRules = (option: Option) => {
    option.attributeName = () => 'rules';
    return option;
  };
  command
    .addOption(
      asRules(
        new Option('--include <pattern>', 'take what matches; repeatable, rules count in order').argParser(
          rule('include'),
        ),
      ),
    )
    .addOption(
      asRules(
        new Option('--exclude <pattern>', 'leave out what matches; repeatable').argParser(rule('exclude')),
      ),
    )
    .addOption(
      asRules(
        new Option('--filter-from <file>', 'rules from a file: "+ PATTERN" and "- PATTERN" lines').argParser(
          (file: string, before: GivenRules | undefined) =>
            addRules(before, parseFilterFile(readText(file)), false),
        ),
      ),
    )
    .option('--files-from <file>', 'only the paths that the file names, one a line')
    .addOption(new Option('--min-size <size>', 'only files of at least this size').argParser(parseSizeOption))
    .addOption(new Option('--max-size <size>', 'only files of at most this size').argParser(parseSizeOption))
    .addOption(
      new Option('--newer <when>', 'only files modified since: 7d, 12h, 30m, or a date').argParser(
        parseMoment,
      ),
    )
    .addOption(new Option('--older <when>', 'only files not modified since').argParser(parseMoment));
}

function addRules(
  before: GivenRules | undefined,
  rules: readonly FilterRule[],
  isInclude: boolean,
): GivenRules {
  return {
    rules: [...(before?.rules ?? []), ...rules],
    isInclusive: before ? before.isInclusive : isInclude,
  };
}

export function addPairOptions(command: Command): void {
  command
    .addOption(new Option('--checksum', 'compare content, not size and time').conflicts('sizeOnly'))
    .addOption(new Option('--size-only', 'compare sizes alone'))
    .option('--no-index', 'do not trust what is remembered of the two places');
  addFilterOptions(command);
  for (const [side, title] of [
    ['source', 'the source'],
    ['dest', 'the destination'],
  ] as const) {
    command
      .option(`--${side}-endpoint <url>`, `S3 endpoint of ${title} alone`)
      .option(`--${side}-region <name>`, `S3 region of ${title}`)
      .option(`--${side}-profile <name>`, `AWS profile for ${title}`)
      .option(`--${side}-path-style`, `address buckets of ${title} as ENDPOINT/BUCKET`);
  }
}

export function addCopyOptions(command: Command): void {
  command
    .option('-n, --dry-run', 'say what would happen and what it takes, and change nothing')
    .option('--explain', 'show how the destination was looked at, and what that took')
    .option('-u, --update', 'leave alone what is newer at the destination')
    .option('--no-check-dest', 'do not look at the destination: send everything')
    .option('--immutable', 'never change a file that is there: one that differs fails')
    .option('--backup-dir <place>', 'keep what is overwritten or deleted there')
    .option('--links', 'keep symbolic links, as NAME.rclonelink objects')
    .option('--no-delta', 'send changed large objects whole')
    .option('--storage-class <name>', 'for objects written, such as STANDARD_IA')
    .option('--content-type <type>', 'for objects written (default: guessed from the name)')
    .addOption(
      new Option('--metadata <key=value>', 'user metadata for objects written; repeatable').argParser(
        parseMetadata,
      ),
    )
    .addOption(new Option('--part-size <size>', 'of multipart uploads').argParser(parsePartSize))
    .addOption(
      new Option('--bwlimit <rate>', 'at most so many bytes of content a second, such as 10M').argParser(
        parseSizeOption,
      ),
    );
  addPairOptions(command);
}

export function createMaxDeleteOption(): Option {
  return new Option(
    '--max-delete <n|p%>',
    'delete nothing if more would be deleted (default: 50%, and 100 in any case)',
  ).argParser((text: string) => {
    const found = /^(\d+)(%?)$/.exec(text);
    if (!found || (found[2] && Number(found[1]) > 100)) {
      throw new InvalidArgumentError('It must be a number of files, or a percentage such as 20%.');
    }
    return found[2] ? { percent: Number(found[1]) } : { files: Number(found[1]) };
  });
}

export function toCopyRequest(source: string, destination: string, options: CopyOptions): SyncRequest {
  return {
    ...toPairRequest(source, destination, options),
    ...given({
      dryRun: options.dryRun,
      update: options.update,
      noCheckDestination: options.checkDest ? undefined : true,
      immutable: options.immutable,
      backupDirectory:
        options.backupDir === undefined
          ? undefined
          : { place: options.backupDir, ...connectionOf(options, 'dest') },
      metadata: options.metadata,
      storageClass: options.storageClass,
      contentType: options.contentType,
      partSizeBytes: options.partSize,
      bandwidthBytesPerSecond: options.bwlimit,
      delta: options.delta ? undefined : false,
      links: options.links,
      maxDelete: options.maxDelete,
    }),
  };
}

export function toPairRequest(source: string, destination: string, options: PairOptions) {
  const filter = toFilter(options);
  return {
    source: { place: source, ...connectionOf(options, 'source') },
    destination: { place: destination, ...connectionOf(options, 'dest') },
    ...given({ compare: compareModeOf(options), filter, noIndex: options.index ? undefined : true }),
  };
}

/** Undefined when nothing is filtered. */
export function toFilter(options: FilterOptions): TreeFilterRequest | undefined {
  const { filesFrom, maxSize, minSize, newer, older, rules } = options;
  const filter = given({
    rules:
      rules &&
      (rules.isInclusive ? [...rules.rules, { action: 'exclude', pattern: '**' } as const] : rules.rules),
    filesFrom: filesFrom === undefined ? undefined : linesOf(readText(filesFrom)),
    minSizeBytes: minSize,
    maxSizeBytes: maxSize,
    newerThanMs: newer,
    olderThanMs: older,
  });
  return Object.keys(filter).length === 0 ? undefined : filter;
}

function compareModeOf({ checksum, sizeOnly }: PairOptions): CompareMode | undefined {
  if (checksum) return 'checksum';
  return sizeOnly ? 'sizeOnly' : undefined;
}

function connectionOf(options: PairOptions, side: 'source' | 'dest'): Pick<PlaceRequest, 'connection'> {
  const connection: ConnectionFlags = given(
    side === 'source'
      ? {
          endpoint: options.sourceEndpoint,
          region: options.sourceRegion,
          profile: options.sourceProfile,
          pathStyle: options.sourcePathStyle,
        }
      : {
          endpoint: options.destEndpoint,
          region: options.destRegion,
          profile: options.destProfile,
          pathStyle: options.destPathStyle,
        },
  );
  return Object.keys(connection).length === 0 ? {} : { connection };
}

const METADATA = /^([A-Za-z0-9][A-Za-z0-9_.-]*)=(.*)$/s;
/** S3's limit for all user metadata of an object. */
const METADATA_BYTES_MAX = 2048;

function parseMetadata(
  text: string,
  before: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const found = METADATA.exec(text);
  if (!found) throw new InvalidArgumentError('It must have the form KEY=VALUE.');
  const metadata = { ...before, [found[1]!.toLowerCase()]: found[2]! };
  if (Buffer.byteLength(Object.entries(metadata).flat().join('')) > METADATA_BYTES_MAX)
    throw new InvalidArgumentError(`All metadata together may have ${METADATA_BYTES_MAX} bytes.`);
  return metadata;
}

const PART_BYTES_MIN = 5 * 1024 ** 2;
const PART_BYTES_MAX = 512 * 1024 ** 2;

function parsePartSize(text: string): number {
  const bytes = parseSize(text);
  if (bytes === undefined || bytes < PART_BYTES_MIN || bytes > PART_BYTES_MAX)
    throw new InvalidArgumentError('It must be a size from 5MiB to 512MiB.');
  return bytes;
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown';
    throw new DrayError('usage', `The file ${file} cannot be read (${code}).`, {
      data: { path: file },
      cause,
    });
  }
}

function linesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.replace(/\r$/, ''))
    .filter((line) => line !== '' && !line.startsWith('#'));
}
