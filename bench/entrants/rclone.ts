/** rclone, in the ways that its users run it. */

import type { Command } from '../machines/measure.ts';
import type { InstalledPeer } from '../machines/peers.ts';
import { type Contender, type Courier, matchLines, type Place } from './contender.ts';

type Installed = InstalledPeer<string>;

/** rclone's default of 4 is slower with many files or through a latency. */
const TUNED = ['--transfers', '32', '--checkers', '32'];
/** For one large object; the default is 4. */
const TUNED_STREAMS = ['--multi-thread-streams', '16'];

export function createRclone(peer: Installed): Contender {
  return createWith(peer, { name: 'rclone', options: TUNED, streams: TUNED_STREAMS });
}

/** With its defaults: 4 transfers and 8 checkers. */
export function createRcloneByDefault(peer: Installed): Contender {
  return createWith(peer, { name: 'rclone (defaults)', options: [], streams: [] });
}

/** rclone with `--use-server-modtime`, as its manual recommends for S3: it saves a HEAD for each object. */
export function rcloneByServerTime(rclone: Contender): Contender {
  const again = (source: string, place: Place): Command => {
    const command = rclone.uploadAgain(source, place);
    return { ...command, args: [...command.args, '--update', '--use-server-modtime', '--fast-list'] };
  };
  return { ...rclone, uploadAgain: again };
}

/** Reads and hashes every file of a folder. */
export function rcloneHashes(rclone: Contender, folder: string, place: Place): Command {
  return { ...rclone.upload(folder, place), args: ['md5sum', folder, ...TUNED] };
}

/** rclone with a HEAD for each file instead of a listing of the destination. */
export function rcloneWithoutListing(rclone: Contender): Contender {
  const { dryRun } = rclone;
  if (!dryRun) return rclone;
  const command = (source: string, place: Place, by?: 'size'): Command => {
    const plain = dryRun.command(source, place, by);
    return { ...plain, args: [...plain.args, '--no-traverse'] };
  };
  return { ...rclone, dryRun: { ...dryRun, command } };
}

/** The option has the same name in Dray, rclone and s5cmd. */
export function sizeOnly(by: 'size' | undefined): readonly string[] {
  return by === 'size' ? ['--size-only'] : [];
}

export function createRcloneCourier(peer: Installed): Courier {
  const { upload, download } = createRclone(peer);
  return {
    upload,
    download,
    list: (place) => ({
      file: peer.path,
      args: [
        ...['lsf', '--recursive', '--files-only', '--fast-list'],
        ...['--format', 'pt', '--use-server-modtime', urlOf(place)],
      ],
      environment: environmentOf(place),
    }),
  };
}

interface Way {
  readonly name: Contender['name'];
  readonly options: readonly string[];
  readonly streams: readonly string[];
}

function createWith({ path, version }: Installed, { name, options, streams }: Way): Contender {
  const run = (place: Place, ...args: readonly string[]): Command => ({
    file: path,
    args: [...args, ...options],
    environment: environmentOf(place),
  });
  const upload = (source: string, place: Place) => run(place, 'copy', source, urlOf(place));
  return {
    name,
    version,
    isPlain: true,
    upload,
    uploadAgain: upload,
    download: (place, folder) => run(place, 'copy', urlOf(place), folder),
    copyAcross: (from, to, object) => {
      // `copy` would treat an object's name as a folder.
      const [action, below] = object === undefined ? ['copy', ''] : ['copyto', `/${object}`];
      const [source, destination] = [`${urlOf(from)}${below}`, `${urlOf(to, 'other')}${below}`];
      const command = run(from, action, source, destination, ...streams);
      return { ...command, environment: { ...command.environment, ...remoteVariables(to, 'OTHER') } };
    },
    dryRun: {
      command: (source, place, by) => run(place, 'copy', '--dry-run', ...sizeOnly(by), source, urlOf(place)),
      syncBySize: (source, place) =>
        run(place, 'sync', '--dry-run', '--size-only', '--fast-list', source, urlOf(place)),
      pathsNamed: (output) => matchLines(output, /NOTICE: (.+): Skipped .+ as --dry-run is set/),
    },
  };
}

function urlOf({ bucket, prefix }: Place, remote: 'bench' | 'other' = 'bench'): string {
  return `${remote}:${bucket}/${prefix}`;
}

function environmentOf(place: Place): Readonly<Record<string, string | undefined>> {
  return {
    ...place.environment,
    // Uses no configuration file of the user: the remote is defined here.
    RCLONE_CONFIG: '',
    ...remoteVariables(place, 'BENCH'),
  };
}

function remoteVariables(place: Place, remote: 'BENCH' | 'OTHER'): Readonly<Record<string, string>> {
  const settings = {
    TYPE: 's3',
    PROVIDER: 'Other',
    ENV_AUTH: 'true',
    ENDPOINT: place.endpoint,
    REGION: place.region,
    NO_CHECK_BUCKET: 'true',
  };
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [`RCLONE_CONFIG_${remote}_${name}`, value]),
  );
}
