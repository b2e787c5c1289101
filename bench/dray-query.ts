/** Dray, asked what a repository of the layout `objects` lacks: by a push that sends nothing. */
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Place, RepositoryQuery } from './contender.ts';
import type { Command } from './measure.ts';

/** @param command That runs Dray, with arguments. */
export function createDrayQuery(
  command: (place: Place, ...args: readonly string[]) => Command,
): RepositoryQuery {
  const pristineOf = (folder: string) => `${folder}.dray-pristine`;
  return {
    hash: 'sha256',
    objectsFolder: 'objects',
    setUp: async ({ folder }, place, run) => {
      const remote = `s3://${place.bucket}/${place.prefix}`;
      await run(command(place, 'init', folder, '--remote', remote, '--layout', 'objects'));
      await cp(join(folder, '.dray'), pristineOf(folder), { recursive: true });
    },
    // It hashes the files in each run then; DVC has hashed them before.
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
