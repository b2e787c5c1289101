/** How each tool is told to do the same work. Each is given the options with which it is quick at it. */
import { fileURLToPath } from 'node:url';
import type { Command } from './measure.ts';
import type { FoundPeer, PeerName } from './peers.ts';

export type ContenderName = 'dray' | PeerName;

/** A prefix of a bucket, empty at first. */
export interface Place {
  readonly bucket: string;
  readonly prefix: string;
  readonly endpoint: string;
  readonly region: string;
  /** `AWS_*` and the like. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface Contender {
  readonly name: ContenderName;
  readonly version: string;
  /** True when each file becomes an object of its own path, which every plain tool can then fetch. */
  readonly isPlain: boolean;
  /** What comes once before the first upload: a repository to upload to. */
  prepareUpload?(source: string, place: Place): Command;
  upload(source: string, place: Place): Command;
  /** When everything is there already. */
  uploadAgain(source: string, place: Place): Command;
  /** Into a folder that does not exist yet. */
  download(place: Place, folder: string): Command;
}

export const DRAY_COMMAND = fileURLToPath(new URL('../dist/dray.js', import.meta.url));

/** rclone's own default of 4 would be slower wherever there are many files or latency. */
const RCLONE_TRANSFERS = ['--transfers', '32', '--checkers', '32'];

export function createDray(version: string): Contender {
  const command = (place: Place, ...args: readonly string[]): Command => ({
    file: process.execPath,
    args: [DRAY_COMMAND, ...args],
    environment: { ...place.environment, DRAY_AUTHOR: 'bench' },
  });
  const url = ({ bucket, prefix }: Place) => `s3://${bucket}/${prefix}`;
  const push = (source: string, place: Place) => command(place, '-C', source, 'push', '-m', 'figures');
  return {
    name: 'dray',
    version,
    isPlain: false,
    prepareUpload: (source, place) => command(place, 'init', source, '--remote', url(place)),
    upload: push,
    uploadAgain: push,
    download: (place, folder) => command(place, 'clone', url(place), folder),
  };
}

export function createPeer(peer: Extract<FoundPeer, { path: string }>): Contender {
  switch (peer.name) {
    case 'rclone':
      return createRclone(peer);
    case 's5cmd':
      return createS5cmd(peer);
    case 'aws':
      return createAws(peer);
    case 'restic':
      return createRestic(peer);
  }
}

type Installed = Extract<FoundPeer, { path: string }>;

function createRclone({ name, path, version }: Installed): Contender {
  const copy = (place: Place, ...args: readonly string[]): Command => ({
    file: path,
    args: ['copy', ...args, ...RCLONE_TRANSFERS],
    environment: rcloneEnvironment(place),
  });
  return {
    name,
    version,
    isPlain: true,
    upload: (source, place) => copy(place, source, rcloneUrl(place)),
    uploadAgain: (source, place) => copy(place, source, rcloneUrl(place)),
    download: (place, folder) => copy(place, rcloneUrl(place), folder),
  };
}

/** rclone as its manual advises for S3 (`--use-server-modtime`), which spares it a HEAD for each object. */
export function rcloneByServerTime(rclone: Contender): Contender {
  const again = (source: string, place: Place): Command => {
    const command = rclone.uploadAgain(source, place);
    return { ...command, args: [...command.args, '--update', '--use-server-modtime', '--fast-list'] };
  };
  return { ...rclone, uploadAgain: again };
}

const rcloneUrl = ({ bucket, prefix }: Place) => `bench:${bucket}/${prefix}`;

function rcloneEnvironment(place: Place): Readonly<Record<string, string | undefined>> {
  return {
    ...place.environment,
    // No file of the user's: the remote is told here alone.
    RCLONE_CONFIG: '',
    RCLONE_CONFIG_BENCH_TYPE: 's3',
    RCLONE_CONFIG_BENCH_PROVIDER: 'Other',
    RCLONE_CONFIG_BENCH_ENV_AUTH: 'true',
    RCLONE_CONFIG_BENCH_ENDPOINT: place.endpoint,
    RCLONE_CONFIG_BENCH_REGION: place.region,
    RCLONE_CONFIG_BENCH_NO_CHECK_BUCKET: 'true',
  };
}

function createS5cmd({ name, path, version }: Installed): Contender {
  const command = (place: Place, ...args: readonly string[]): Command => ({
    file: path,
    args: ['--log', 'error', ...args],
    environment: { ...place.environment, S3_ENDPOINT_URL: place.endpoint },
  });
  const url = ({ bucket, prefix }: Place) => `s3://${bucket}/${prefix}/`;
  return {
    name,
    version,
    isPlain: true,
    upload: (source, place) => command(place, 'cp', `${source}/`, url(place)),
    uploadAgain: (source, place) => command(place, 'sync', `${source}/`, url(place)),
    download: (place, folder) => command(place, 'cp', `${url(place)}*`, `${folder}/`),
  };
}

function createAws({ name, path, version }: Installed): Contender {
  const command = (place: Place, action: readonly string[], from: string, to: string): Command => ({
    file: path,
    args: ['s3', ...action, from, to, '--only-show-errors'],
    environment: place.environment,
  });
  const url = ({ bucket, prefix }: Place) => `s3://${bucket}/${prefix}/`;
  const copy = ['cp', '--recursive'];
  return {
    name,
    version,
    isPlain: true,
    upload: (source, place) => command(place, copy, source, url(place)),
    uploadAgain: (source, place) => command(place, ['sync'], source, url(place)),
    download: (place, folder) => command(place, copy, url(place), folder),
  };
}

function createRestic({ name, path, version }: Installed): Contender {
  const command = (place: Place, cache: string, args: readonly string[]): Command => ({
    file: path,
    args: ['-r', `s3:${place.endpoint}/${place.bucket}/${place.prefix}`, '--cache-dir', cache, ...args],
    environment: {
      ...place.environment,
      AWS_DEFAULT_REGION: place.region,
      RESTIC_PASSWORD: 'figures',
      RESTIC_PROGRESS_FPS: '0.1',
    },
  });
  const besides = (folder: string) => `${folder}.restic-cache`;
  // Of the folder's content, by a relative path: a snapshot of an absolute one would be restored below all its parents.
  const backup = (source: string, place: Place): Command => ({
    ...command(place, besides(source), ['backup', '.', '--quiet']),
    cwd: source,
  });
  return {
    name,
    version,
    isPlain: false,
    prepareUpload: (source, place) => command(place, besides(source), ['init']),
    upload: backup,
    uploadAgain: backup,
    // The folder is new, and so is its cache: a machine that fetches for the first time has none.
    download: (place, folder) =>
      command(place, besides(folder), ['restore', 'latest', '--target', folder, '--quiet']),
  };
}
