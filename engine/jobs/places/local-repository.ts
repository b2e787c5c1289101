/** Repositories that are folders of this machine: finding one costs no request. */
import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { DrayError } from '../../api/error.ts';
import { DESCRIPTOR_KEY } from '../../repository/keys.ts';

/**
 * @param why What would happen to a repository at the folder or above it.
 * @throws `usage`
 */
export function refuseLocalRepository(folder: string, why: string): void {
  const repository = localRepositoryAt(folder);
  if (repository === undefined) return;
  const message = `${folder} lies in the repository ${repository}. ${why} Choose a folder outside of it.`;
  throw new DrayError('usage', message, { data: { path: folder, repository: basename(repository) } });
}

/** The nearest repository at the folder or above it. */
export function localRepositoryAt(folder: string): string | undefined {
  for (let at = resolve(folder); ; at = dirname(at)) {
    if (existsSync(join(at, DESCRIPTOR_KEY))) return at;
    if (dirname(at) === at) return undefined;
  }
}
