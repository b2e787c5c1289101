/**
 * The options that every command takes, before or after its name, and `--bwlimit` of the commands that move
 * content.
 */
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { given } from '../../../engine/api/given.ts';
import { type ConnectionFlags, TRANSFERS_MAX } from '../../../engine/api/jobs/jobs.ts';
import { parseSize } from '../output/format.ts';
import type { TrustFlags } from '../peer-trust.ts';

export interface GlobalOptions {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
  /** An absolute path. */
  readonly directory: string;
  readonly remoteName?: string;
  readonly connection: ConnectionFlags;
  readonly trust: TrustFlags;
}

function createGlobalOptions(): Option[] {
  return [
    new Option('-C <dir>', 'run as if started in this folder'),
    new Option('--remote <name>', 'use this remote of the workspace'),
    new Option('--json', 'print events and the summary as JSON, one object per line'),
    new Option('-q, --quiet', 'print only errors and results'),
    new Option('-v, --verbose', 'print details, and the source of errors'),
    new Option('--transfers <n>', 'requests in flight (default: adapts to the link)').argParser(
      parseTransfers,
    ),
    new Option('--endpoint <url>', 'S3 endpoint, for stores other than AWS'),
    new Option('--region <name>', 'S3 region'),
    new Option('--profile <name>', 'AWS profile to take credentials from'),
    new Option('--path-style', 'address buckets as ENDPOINT/BUCKET'),
    new Option('--anonymous', 'do not sign requests; for public buckets'),
    new Option(
      '--trust-peer <fingerprint>',
      'trust a new dray:// peer if its certificate has this fingerprint',
    ).argParser(parseFingerprint),
    new Option('--trust-new-peer', 'trust any new dray:// peer'),
  ];
}

/** The flags of global options that take a value: `-C`, `--remote` and so on. */
export function valuedGlobalOptions(): ReadonlySet<string> {
  const valued = createGlobalOptions().filter((option) => option.required);
  return new Set(valued.flatMap(({ long, short }) => [long, short].filter((flag) => flag != null)));
}

/**
 * Gives a command the global options that it does not define itself (`init` and `status` have their own
 * `--remote`). Only the program lists them in its help; each command's help points there.
 */
export function addGlobalOptions(command: Command): void {
  const isProgram = command.parent === null;
  if (isProgram) command.optionsGroup('Global options (before the command or after it):');
  const own = new Set(command.options.map((option) => option.long ?? option.short));
  for (const option of createGlobalOptions()) {
    if (own.has(option.long ?? option.short)) continue;
    command.addOption(isProgram ? option : option.hideHelp());
  }
}

/** The same options as words for another command that this one runs, but for `-C`. */
export function globalWords(command: Command): string[] {
  const values: Record<string, unknown> = {};
  for (const level of lineage(command)) Object.assign(values, level.opts());
  return createGlobalOptions().flatMap((option) => {
    const value = values[option.attributeName()];
    if (!option.long || value === undefined) return [];
    return value === true ? [option.long] : [`${option.long}=${value}`];
  });
}

/** The options given to the command or to any command above it. The nearest one wins. */
export function readGlobalOptions(command: Command): GlobalOptions {
  const values: Record<string, unknown> = {};
  let remoteName: string | undefined;
  for (const level of lineage(command)) {
    const { anonymous, ...options } = level.opts();
    Object.assign(values, options);
    // `gateway --anonymous` is about its own clients.
    if (level.name() !== 'gateway') values.anonymous ??= anonymous;
    // `init --remote` is a URL, and `status --remote` takes no value.
    if (typeof options.remote === 'string' && level.name() !== 'init') remoteName = options.remote;
  }
  const text = (name: string) => (typeof values[name] === 'string' ? values[name] : undefined);
  return {
    json: values.json === true,
    quiet: values.quiet === true,
    verbose: values.verbose === true,
    directory: resolve(text('C') ?? '.'),
    ...given({ remoteName }),
    trust: { isNewTrusted: values.trustNewPeer === true, ...given({ fingerprint: text('trustPeer') }) },
    connection: given({
      endpoint: text('endpoint'),
      region: text('region'),
      profile: text('profile'),
      pathStyle: values.pathStyle === true ? true : undefined,
      anonymous: values.anonymous === true ? true : undefined,
      bandwidthBytesPerSecond: typeof values.bwlimit === 'number' ? values.bwlimit : undefined,
      transfers: typeof values.transfers === 'number' ? values.transfers : undefined,
    }),
  };
}

function lineage(command: Command): Command[] {
  return command.parent ? [...lineage(command.parent), command] : [command];
}

function parseTransfers(text: string): number {
  return parseCount(text, { min: 1, max: TRANSFERS_MAX });
}

/** In the form of `dray serve`, or without the colons. @returns The fingerprint in Node's form. */
function parseFingerprint(text: string): string {
  const digits = text.replaceAll(':', '').toUpperCase();
  if (/^[0-9A-F]{64}$/.test(digits)) return digits.match(/../g)!.join(':');
  throw new InvalidArgumentError('It must be a SHA-256 fingerprint, as "dray serve" shows it.');
}

/** @throws InvalidArgumentError; commander adds the option's name. */
export function parseCount(
  text: string,
  { min, max }: { readonly min: number; readonly max: number },
): number {
  const count = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (count >= min && count <= max) return count;
  throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
}

/** For commands that move content. `readGlobalOptions` reads it from their own options. */
export function createBandwidthOption(): Option {
  return new Option('--bwlimit <rate>', 'bandwidth limit per second: 10M is 10 MiB').argParser(parseRate);
}

function parseRate(text: string): number {
  const bytes = parseSize(text.replace(/\/s$/i, ''));
  if (!bytes) throw new InvalidArgumentError('It must be bytes per second, such as 512K, 10M or 1.5G.');
  return bytes;
}

/** @throws InvalidArgumentError */
export function parseSizeOption(text: string): number {
  const bytes = parseSize(text);
  if (bytes === undefined) throw new InvalidArgumentError('It must be a size, such as 512KiB, 64MiB or 0.');
  return bytes;
}
