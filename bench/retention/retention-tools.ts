/** The commands by which each tool keeps versions, forgets all but some and removes what nothing needs. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Place } from '../entrants/contender.ts';
import { DRAY_COMMAND, drayCommand } from '../entrants/contenders.ts';
import type { Command } from '../machines/measure.ts';

export interface RetentionTool {
  readonly name: string;
  readonly version: string;
  /** It keeps the store's address, so that no other way to it can be taken. */
  readonly isNearOnly?: true;
  /** @param folder The data. @param state For settings and caches; it exists. */
  commands(place: Place, folder: string, state: string): RetentionCommands;
}

export interface RetentionCommands {
  readonly create: readonly Command[];
  readonly save: Command;
  /** Keeps the newest versions, and frees the room of the others as far as one run does. */
  forget(kept: number): readonly Command[];
  /** Frees room once more. */
  readonly collect: Command;
  /** What the tool keeps on this machine. */
  readonly local: readonly string[];
}

/** @param options Of `init`. */
export const drayTool = (options: readonly string[] = []): RetentionTool => ({
  name: 'dray',
  version: '',
  commands: (place, folder) => {
    const run = (...words: readonly string[]) =>
      drayCommand(DRAY_COMMAND, place, ['-C', folder, '-q', ...words]);
    return {
      create: [run('init', '--remote', `s3://${place.bucket}/${place.prefix}`, ...options)],
      save: run('push', '-m', 'a version'),
      forget: (kept) => [run('forget', '--keep-last', `${kept}`), run('gc', '--grace', '0s')],
      collect: run('gc', '--grace', '0s'),
      local: [join(folder, '.dray')],
    };
  },
});

export function resticTool(path: string): RetentionTool {
  return {
    name: 'restic',
    version: firstLine(path, 'version').split(' ')[1] ?? 'unknown',
    commands: (place, folder, state) => {
      const run = (...words: readonly string[]): Command => ({
        file: path,
        args: [
          '-q',
          '-r',
          `s3:${place.endpoint}/${place.bucket}/${place.prefix}`,
          '--cache-dir',
          state,
          ...words,
        ],
        cwd: folder,
        environment: { ...place.environment, AWS_DEFAULT_REGION: place.region, RESTIC_PASSWORD: 'figures' },
      });
      return {
        create: [run('init', '--repository-version', '2')],
        save: run('backup', '.'),
        forget: (kept) => [run('forget', '--keep-last', `${kept}`, '--prune')],
        collect: run('prune'),
        local: [state],
      };
    },
  };
}

/** @param packBytes Of packs of content. Default: rustic's. */
export function rusticTool(path: string, { packBytes }: { readonly packBytes?: number } = {}): RetentionTool {
  const sizes =
    packBytes === undefined ? [] : ['--set-datapack-size', `${packBytes}B`, '--set-datapack-growfactor', '0'];
  return {
    name: 'rustic',
    version: firstLine(path, '--version').split(' ').at(-1) ?? 'unknown',
    commands: (place, folder, state) => {
      const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = place.environment;
      const profile = join(state, 'profile.toml');
      const settings = {
        bucket: place.bucket,
        root: `/${place.prefix}`,
        endpoint: place.endpoint,
        region: place.region,
        access_key_id: AWS_ACCESS_KEY_ID,
        secret_access_key: AWS_SECRET_ACCESS_KEY,
      };
      mkdirSync(state, { recursive: true });
      writeFileSync(
        profile,
        [
          '[global]\nno-progress = true\nlog-level = "warn"',
          `[repository]\nrepository = "opendal:s3"\npassword = "figures"\ncache-dir = "${join(state, 'cache')}"`,
          '[repository.options]',
          ...Object.entries(settings).map(([key, value]) => `${key} = "${value}"`),
        ].join('\n'),
      );
      const run = (...words: readonly string[]): Command => ({
        file: path,
        args: ['-P', profile.replace(/\.toml$/, ''), ...words],
        cwd: folder,
        environment: place.environment,
      });
      const now = ['--instant-delete', '--keep-pack', '0s'];
      return {
        create: [run('init', ...sizes)],
        save: run('backup', '.'),
        forget: (kept) => [run('forget', '--keep-last', `${kept}`, '--prune', ...now)],
        collect: run('prune', ...now),
        local: [join(state, 'cache')],
      };
    },
  };
}

export function kopiaTool(path: string, version: string): RetentionTool {
  return {
    name: 'kopia',
    version,
    isNearOnly: true,
    commands: (place, folder, state) => {
      const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = place.environment;
      const run = (...words: readonly string[]): Command => ({
        file: path,
        args: [
          ...words,
          '--no-progress',
          '--log-dir',
          join(state, 'log'),
          '--config-file',
          join(state, 'kopia.json'),
        ],
        cwd: folder,
        environment: {
          ...place.environment,
          KOPIA_PASSWORD: 'figures',
          KOPIA_CHECK_FOR_UPDATES: 'false',
          HOME: state,
          AWS_ACCESS_KEY_ID,
          AWS_SECRET_ACCESS_KEY,
        },
      });
      const storage = [
        ...['--bucket', place.bucket, '--prefix', `${place.prefix}/`, '--region', place.region],
        ...['--endpoint', new URL(place.endpoint).host, '--disable-tls'],
        ...['--access-key', `${AWS_ACCESS_KEY_ID}`, '--secret-access-key', `${AWS_SECRET_ACCESS_KEY}`],
      ];
      const keep = (count: number) =>
        run(
          'policy',
          'set',
          '--global',
          '--keep-latest',
          `${count}`,
          ...KOPIA_PERIODS.flatMap((name) => [`--keep-${name}`, '0']),
        );
      const collect = run('maintenance', 'run', '--full', '--safety', 'none');
      return {
        create: [
          run('repository', 'create', 's3', ...storage, '--cache-directory', join(state, 'cache')),
          run('policy', 'set', '--global', '--compression', 'zstd'),
          keep(100),
        ],
        save: run('snapshot', 'create', '.'),
        forget: (kept) => [keep(kept), run('snapshot', 'expire', '--all', '--delete'), collect],
        collect,
        local: [state],
      };
    },
  };
}

const KOPIA_PERIODS = ['hourly', 'daily', 'weekly', 'monthly', 'annual'];

function firstLine(path: string, word: string): string {
  return execFileSync(path, [word], { encoding: 'utf8' }).split('\n')[0] ?? '';
}
