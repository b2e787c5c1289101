/** Queries what a repository of the layout `objects` lacks, by a push that sends nothing. */
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Command } from '../machines/measure.ts';
import type { Place, RepositoryQuery } from './contender.ts';

/** @param command The command that runs Dray, with arguments. */
export function createDrayQuery(
  command: (place: Place, ...args: readonly string[]) => Command,
): RepositoryQuery {
  const pristineOf = (folder: string) => `${folder}.dray-pristine`;
  const init = (place: Place, folder: string, ...options: readonly string[]) => {
    const remote = `s3://${place.bucket}/${place.prefix}`;
    return command(place, 'init', folder, '--remote', remote, '--layout', 'objects', ...options);
  };
  return {
    hash: 'sha256',
    objectsFolder: 'objects',
    storesEmpty: false,
    // Dray asks nothing about a repository without a commit.
    found: async (place, folder, run) => {
      await mkdir(folder);
      await writeFile(join(folder, 'first'), 'The first commit.');
      await run(init(place, folder));
      await run(command(place, '-C', folder, 'push', '-m', 'first'));
    },
    setUp: async ({ folder }, place, run) => {
      // Its own branch: a workspace that has never contacted the repository.
      await run(init(place, folder, '--branch', basename(folder)));
      await cp(join(folder, '.dray'), pristineOf(folder), { recursive: true });
    },
    // Without its state Dray hashes the files in each run; DVC has hashed them before.
    forget: async ({ folder }) => {
      await rm(join(folder, '.dray'), { recursive: true, force: true });
      await cp(pristineOf(folder), join(folder, '.dray'), { recursive: true });
    },
    command: ({ folder }, place) => command(place, '-C', folder, 'push', '--dry-run', '--json'),
    countLacking: (output) => {
      const summary = JSON.parse(output.trim().split('\n').at(-1) ?? '');
      if (summary.result !== 'wouldPush') throw new Error(`it answered with ${summary.result}`);
      return summary.uploadedObjects;
    },
  };
}
