/** DVC, asked what a repository lacks of what was added. */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { linkByContent } from '../data/content-links.ts';
import type { HashedFolder, RepositoryQuery } from './contender.ts';
import { DVC_DATA, type DvcProject, dvcProjectOf, dvcStatus } from './dvc-project.ts';

/** Asked as `dvc status --cloud`, which compares its cache, and looks at no file. */
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

/** A name for each content; that of the folder itself, which the repository lacks as well, has nothing below it. */
export function countDvcLacking(output: string): number {
  const json = /\{.*\}/s.exec(output)?.[0];
  if (json === undefined) throw new Error('it told nothing');
  const states: readonly [string, unknown][] = Object.entries(JSON.parse(json));
  const files = states.filter(([name]) => name.replaceAll('\\', '/').startsWith(`${DVC_DATA}/`));
  if (files.some(([, state]) => state !== 'new'))
    throw new Error('it said something else than that files are new');
  return files.length;
}

/**
 * What `dvc add` leaves of a folder beside the contents: a list of its files in the cache, and the small file that
 * names the list. To let DVC add a million files takes longer than all rows together.
 */
export function writeDvcProject({ hashes }: Pick<HashedFolder, 'hashes'>, project: DvcProject): void {
  const entries = [...hashes].sort(([left], [right]) => compareParts(left.split('/'), right.split('/')));
  // As Python's json writes it: with a space after each comma and colon.
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
