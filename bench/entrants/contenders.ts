/** The commands by which each tool does the same work, each with the options that make it fast. */
import { fileURLToPath } from 'node:url';
import type { Command } from '../machines/measure.ts';
import type { InstalledPeer } from '../machines/peers.ts';
import { type Contender, matchLines, type Place } from './contender.ts';
import { createDrayQuery } from './dray-query.ts';
import { createDvc } from './dvc.ts';
import { createRclone, sizeOnly } from './rclone.ts';

export const DRAY_COMMAND = fileURLToPath(new URL('../../dist/dray.js', import.meta.url));

/** @param program The program for Node: the published command; tests use the sources. */
export function createDray(version: string, program = DRAY_COMMAND): Contender {
  const command = (place: Place, ...args: readonly string[]) => drayCommand(program, place, args);
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
    update: (place, folder) => command(place, '-C', folder, 'pull'),
    query: createDrayQuery(command),
  };
}

/** Any command in a workspace, or with a repository at the place. */
export function drayCommand(program: string, place: Place, args: readonly string[]): Command {
  return {
    file: process.execPath,
    args: [program, ...args],
    environment: { ...place.environment, DRAY_AUTHOR: 'bench' },
  };
}

/** Plain trees: each file is an object at its own path. @param program As in `createDray`. */
export function createDrayCopy(version: string, program = DRAY_COMMAND): Contender {
  const command = (place: Place, cacheFolder: string, ...args: readonly string[]): Command => ({
    file: process.execPath,
    args: [program, ...args],
    environment: {
      ...place.environment,
      DRAY_CACHE: cacheFolder,
      // Hides the developer's named remotes.
      DRAY_CONFIG: `${place.cacheFolder}/config.json`,
    },
  });
  const url = ({ bucket, prefix }: Place, name = '') => `s3://${bucket}/${prefix}/${name}`;
  const copy = (source: string, place: Place, ...options: readonly string[]) =>
    command(place, place.cacheFolder, 'copy', source, url(place), ...options);
  return {
    name: 'dray copy',
    version,
    isPlain: true,
    upload: (source, place) => copy(source, place),
    uploadAgain: (source, place) => copy(source, place),
    // The folder is new, and so is its cache.
    download: (place, folder) => command(place, `${folder}.dray-cache`, 'copy', url(place), folder),
    copyAcross: (from, to, name) => {
      const endpoints = ['--source-endpoint', from.endpoint, '--dest-endpoint', to.endpoint];
      return command(to, to.cacheFolder, 'copy', url(from, name), url(to, name), ...endpoints);
    },
    dryRun: {
      command: (source, place, by) => copy(source, place, '--dry-run', ...sizeOnly(by)),
      syncBySize: (source, place) =>
        command(place, place.cacheFolder, 'sync', source, url(place), '--dry-run', '--size-only'),
      pathsNamed: (output) => matchLines(output, /^[AMD] (.+)$/),
    },
  };
}

export function createPeer(peer: InstalledPeer): Contender {
  switch (peer.name) {
    case 'rclone':
      return createRclone(peer);
    case 's5cmd':
      return createS5cmd(peer);
    case 'aws':
      return createAws(peer);
    case 'restic':
      return createRestic(peer);
    case 'dvc':
      return createDvc(peer);
  }
}

function createS5cmd({ name, path, version }: InstalledPeer): Contender {
  const run = (place: Place, ...args: readonly string[]): Command => ({
    file: path,
    args,
    environment: { ...place.environment, S3_ENDPOINT_URL: place.endpoint },
  });
  const command = (place: Place, ...args: readonly string[]) => run(place, '--log', 'error', ...args);
  const url = ({ bucket, prefix }: Place) => `s3://${bucket}/${prefix}/`;
  return {
    name,
    version,
    isPlain: true,
    upload: (source, place) => command(place, 'cp', `${source}/`, url(place)),
    uploadAgain: (source, place) => command(place, 'sync', `${source}/`, url(place)),
    download: (place, folder) => command(place, 'cp', `${url(place)}*`, `${folder}/`),
    dryRun: {
      command: (source, place, by) =>
        run(place, '--dry-run', 'sync', ...sizeOnly(by), `${source}/`, url(place)),
      syncBySize: (source, place) =>
        run(place, '--dry-run', 'sync', '--delete', '--size-only', `${source}/`, url(place)),
      pathsNamed: (output, place) =>
        matchLines(output, /^(?:cp .+ |rm )(s3:\/\/\S+)$/).map((object) => object.slice(url(place).length)),
    },
  };
}

/** s5cmd with a HEAD for each file instead of a listing of the destination. */
export function s5cmdOneByOne(s5cmd: Contender): Contender {
  const { dryRun } = s5cmd;
  if (!dryRun) return s5cmd;
  const command = (source: string, place: Place, by?: 'size'): Command => {
    const sync = dryRun.command(source, place);
    // Sends missing files, and files with another size or a newer time, as `sync` does.
    const copy = ['cp', '-n', '-s', ...(by === 'size' ? [] : ['-u'])];
    const args = sync.args.flatMap((arg) => (arg === 'sync' ? copy : arg));
    return { ...sync, args };
  };
  return { ...s5cmd, dryRun: { ...dryRun, command } };
}

/**
 * With the default of 10, aws takes twice as long through a latency; without one, 32 take slightly longer
 * than 10.
 */
const AWS_32_REQUESTS = fileURLToPath(new URL('aws-32-requests.ini', import.meta.url));

function isFar({ endpoint, serverEndpoint }: Place): boolean {
  return endpoint !== serverEndpoint;
}

function createAws({ name, path, version }: InstalledPeer): Contender {
  const command = (place: Place, action: readonly string[], from: string, to: string): Command => ({
    file: path,
    args: ['s3', ...action, from, to, '--only-show-errors'],
    environment: isFar(place)
      ? { ...place.environment, AWS_CONFIG_FILE: AWS_32_REQUESTS }
      : place.environment,
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

function createRestic({ name, path, version }: InstalledPeer): Contender {
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
  // Backs up a relative path: a snapshot of an absolute one is restored below all its parent folders.
  const backup = (source: string, place: Place): Command => ({
    ...command(place, besides(source), ['backup', '.', '--quiet']),
    cwd: source,
  });
  const restore = (place: Place, folder: string) =>
    command(place, besides(folder), ['restore', 'latest', '--target', folder, '--quiet']);
  return {
    name,
    version,
    isPlain: false,
    prepareUpload: (source, place) => command(place, besides(source), ['init']),
    upload: backup,
    uploadAgain: backup,
    // The folder is new, and so is its cache, as on a machine that fetches for the first time.
    download: restore,
    update: restore,
  };
}
