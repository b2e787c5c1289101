/** The options of commands on plain trees, and the requests that they make. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { given } from '../../../engine/api/given.ts';
import type { ConnectionFlags } from '../../../engine/api/jobs/jobs.ts';
import type {
  CompareMode,
  PlaceRequest,
  SyncRequest,
  TreePairRequest,
} from '../../../engine/api/jobs/trees.ts';
import { parseSize } from '../output/format.ts';
import { addFilterOptions, type FilterContext, type FilterOptions, toFilter } from './filter-options.ts';
import { createBandwidthOption } from './global-options.ts';

/** The arguments of a command on two places. */
export interface PairArguments {
  readonly source: string;
  readonly destination: string;
  readonly context: FilterContext;
}

export interface PairOptions extends FilterOptions {
  readonly checksum?: true;
  readonly sizeOnly?: true;
  /** False with `--no-index`. */
  readonly index: boolean;
  readonly sourceEndpoint?: string;
  readonly sourceRegion?: string;
  readonly sourceProfile?: string;
  readonly sourcePathStyle?: true;
  readonly sourceAnonymous?: true;
  readonly destEndpoint?: string;
  readonly destRegion?: string;
  readonly destProfile?: string;
  readonly destPathStyle?: true;
  readonly destAnonymous?: true;
}

export interface CopyFlags extends PairOptions {
  readonly dryRun?: true;
  readonly explain?: true;
  readonly update?: true;
  /** False with `--no-check-dest`. */
  readonly checkDest: boolean;
  /** False with `--no-confirm`. */
  readonly confirm: boolean;
  readonly immutable?: true;
  readonly specialModes?: true;
  readonly backupDir?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly storageClass?: string;
  readonly contentType?: string;
  readonly partSize?: number;
  readonly delta?: boolean;
  readonly links?: true;
  readonly maxDelete?: SyncRequest['maxDelete'];
  readonly allowRepository?: true;
}

export function addPairOptions(command: Command): void {
  addFilterOptions(command);
  command.optionsGroup('Only for one side (--endpoint and the like apply to both):');
  for (const [side, title] of [
    ['source', 'the source'],
    ['dest', 'the destination'],
  ] as const) {
    command
      .option(`--${side}-endpoint <url>`, `S3 endpoint of ${title}`)
      .option(`--${side}-region <name>`, `S3 region of ${title}`)
      .option(`--${side}-profile <name>`, `AWS profile for ${title}`)
      .option(`--${side}-path-style`, `address buckets of ${title} as ENDPOINT/BUCKET`)
      .option(`--${side}-anonymous`, `do not sign requests to ${title}`);
  }
}

export function addCopyOptions(command: Command): void {
  command
    .option('-n, --dry-run', 'show what would happen and what it costs, and change nothing')
    .option('--explain', 'show how the destination was searched, and what that cost')
    .option('-u, --update', 'skip files that are newer at the destination')
    .option('--no-check-dest', 'do not list the destination; send everything')
    .option('--no-confirm', 'do not check afterwards that the store has the objects')
    .option('--immutable', 'never change an existing file; report one that differs as failed')
    .option('--backup-dir <place>', 'move overwritten and deleted files there')
    .option('--links', 'copy symbolic links, as NAME.rclonelink objects')
    .option('--special-modes', 'keep set-uid, set-gid and sticky bits, where modes are kept');
  command.addOption(createAllowRepositoryOption());
  addWriteOptions(command);
  command.option('--no-index', 'ignore what Dray remembers about the two places');
  addPairOptions(command);
}

/** Options for copies that write objects: how to write them, and when a file counts as equal. */
export function addWriteOptions(command: Command): void {
  command
    .optionsGroup('How objects are written:')
    .addOption(new Option('--metadata <key=value>', 'user metadata; repeatable').argParser(parseMetadata))
    .option('--storage-class <name>', 'storage class, such as STANDARD_IA')
    .option('--content-type <type>', 'content type of all objects (default: guessed from the name)')
    .addOption(
      new Option(
        '--part-size <size>',
        'part size of multipart uploads (default: 8MiB; 16MiB from 512MiB on)',
      ).argParser(parsePartSize),
    )
    .addOption(createBandwidthOption())
    // On by default; accepted for people who write it anyway.
    .addOption(new Option('--delta').hideHelp())
    .option('--no-delta', 'send changed large files in full, not only their changes')
    .optionsGroup('How files are compared:')
    .addOption(new Option('--checksum', 'compare content, not size and time').conflicts('sizeOnly'))
    .option('--size-only', 'compare sizes only');
}

export function createAllowRepositoryOption(): Option {
  return new Option('--allow-repository', 'change files also where a Dray repository stores its objects');
}

export function createMaxDeleteOption(): Option {
  return new Option(
    '--max-delete <n|p%>',
    'delete nothing if more would be deleted (default: 50%, but always allows 100)',
  ).argParser((text: string) => {
    const found = /^(\d+)(%?)$/.exec(text);
    if (!found || (found[2] && Number(found[1]) > 100)) {
      throw new InvalidArgumentError('It must be a number of files, or a percentage such as 20%.');
    }
    return found[2] ? { percent: Number(found[1]) } : { files: Number(found[1]) };
  });
}

export function toCopyRequest(pair: PairArguments, options: CopyFlags): SyncRequest {
  const { backupDir } = options;
  return {
    ...toPairRequest(pair, options),
    ...given({
      dryRun: options.dryRun,
      update: options.update,
      noCheckDestination: options.checkDest ? undefined : true,
      noConfirm: options.confirm ? undefined : true,
      immutable: options.immutable,
      backupDirectory:
        backupDir === undefined ? undefined : { place: backupDir, ...connectionOf(options, 'dest') },
      metadata: options.metadata,
      storageClass: options.storageClass,
      contentType: options.contentType,
      partSizeBytes: options.partSize,
      delta: options.delta === false ? false : undefined,
      links: options.links,
      specialModes: options.specialModes,
      maxDelete: options.maxDelete,
      allowRepositories: options.allowRepository,
    }),
  };
}

export function toPairRequest(
  { context, destination, source }: PairArguments,
  options: PairOptions,
): TreePairRequest {
  return {
    source: { place: source, ...connectionOf(options, 'source') },
    destination: { place: destination, ...connectionOf(options, 'dest') },
    ...given({
      compare: compareModeOf(options),
      filter: toFilter(options, context),
      noIndex: options.index ? undefined : true,
    }),
  };
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
          anonymous: options.sourceAnonymous,
        }
      : {
          endpoint: options.destEndpoint,
          region: options.destRegion,
          profile: options.destProfile,
          pathStyle: options.destPathStyle,
          anonymous: options.destAnonymous,
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
    throw new InvalidArgumentError(`All metadata together can have at most ${METADATA_BYTES_MAX} bytes.`);
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
