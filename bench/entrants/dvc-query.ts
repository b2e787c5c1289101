/** Queries by DVC what a repository lacks of an added folder. */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { linkByContent } from '../data/content-links.ts';
import type { HashedFolder, RepositoryQuery } from './contender.ts';
import { DVC_DATA, type DvcProject, dvcProjectOf, dvcStatus } from './dvc-project.ts';

/** Uses `dvc status --cloud`, which compares DVC's cache and reads no file. */
export function createDvcQuery(path: string): RepositoryQuery {
  return {
    hash: 'md5',
    objectsFolder: 'files/md5',
    storesEmpty: true,
    setUp: async (local, place) => {
      const project = dvcProjectOf(place);
      linkByContent(local.folder, local.hashes, join(project.cacheFolder, 'files', 'md5'));
      writeDvcProject(local, project);
    },
    forget: async (_, place) => {
      await rm(join(dvcProjectOf(place).cacheFolder, 'site'), { recursive: true, force: true });
    },
    command: (_, place) => dvcStatus(path, dvcProjectOf(place)),
    countLacking: countDvcLacking,
  };
}

/**
 * Counts one name for each content. The folder's own name, which the repository lacks as well, is not
 * counted.
 */
export function countDvcLacking(output: string): number {
  const json = /\{.*\}/s.exec(output)?.[0];
  if (json === undefined) throw new Error('it printed nothing');
  const states: readonly [string, unknown][] = Object.entries(JSON.parse(json));
  const files = states.filter(([name]) => name.replaceAll('\\', '/').startsWith(`${DVC_DATA}/`));
  if (files.some(([, state]) => state !== 'new'))
    throw new Error('it reported something else than new files');
  return files.length;
}

/**
 * Writes what `dvc add` leaves besides the contents: a list of the files in the cache, and a small file that
 * names the list. Adding a million files by DVC takes longer than all rows together.
 */
export function writeDvcProject({ hashes }: Pick<HashedFolder, 'hashes'>, project: DvcProject): void {
  const entries = [...hashes].sort(([left], [right]) => compareParts(left.split('/'), right.split('/')));
  // As Python's json module writes it: with a space after each comma and colon.
  const list = `[${entries.map(([path, md5]) => `{"md5": "${md5}", "relpath": "${path}"}`).join(', ')}]`;
  const hash = createHash('md5').update(list).digest('hex');
  const object = join(project.cacheFolder, 'files', 'md5', hash.slice(0, 2), `${hash.slice(2)}.dir`);
  mkdirSync(dirname(object), { recursive: true });
  writeFileSync(object, list, { mode: 0o444 });
  mkdirSync(project.folder, { recursive: true });
  const tracked = [
    `outs:`,
    `- md5: ${hash}.dir`,
    `  nfiles: ${hashes.size}`,
    `  hash: md5`,
    `  path: ${DVC_DATA}`,
  ];
  writeFileSync(join(project.folder, `${DVC_DATA}.dvc`), `${tracked.join('\n')}\n`);
}

function compareParts(left: readonly string[], right: readonly string[]): number {
  for (const [index, part] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    if (part !== other) return part < other ? -1 : 1;
  }
  return left.length - right.length;
}
