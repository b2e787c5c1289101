/** Entrants that ask a repository with one object for each content what it lacks of a folder; nothing is remembered of it. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Bench } from './bench.ts';
import type { Contender, ContenderName, HashedFolder, Place, RepositoryQuery } from './contender.ts';
import { hashFiles, linkByContent } from './content-links.ts';
import { listPaths } from './dataset.ts';
import { type DryRunOptions, linkLocal } from './dry-run-entrants.ts';
import { type Command, runUnmeasured } from './measure.ts';
import type { Attempt, Entrant } from './scenario.ts';
import { guardObjects } from './stored-objects.ts';
import { createUnable, mapContenders } from './transfer-entrants.ts';
import { writtenTree } from './written-trees.ts';

/** With one object for each content. */
export const REPOSITORY_TOOLS: readonly ContenderName[] = ['dray', 'dvc'];

export type ExistenceOptions = Pick<DryRunOptions, 'stored' | 'local' | 'by' | 'latencyMs'>;

interface Question {
  readonly local: HashedFolder;
  readonly place: Place;
  /** Contents that the repository lacks. */
  readonly lacking: number;
}

export async function openExistence(bench: Bench, options: ExistenceOptions): Promise<readonly Entrant[]> {
  const { storesPlainFiles } = await bench.newPlace();
  return mapContenders(bench, REPOSITORY_TOOLS, ({ query }: Contender) => {
    if (!query) return createUnable('it has no such question');
    if (options.stored && !storesPlainFiles)
      return createUnable('its repository is written as files, which this server does not keep');
    let asked: Question | undefined;
    return {
      setUp: async () => {
        asked = await setUpQuestion(bench, query, options);
      },
      prepare: async (): Promise<Attempt> => {
        if (!asked) throw new Error('There is no repository to ask.');
        const { lacking, local, place } = asked;
        await query.forget(local, place);
        const guard = await guardObjects(bench, place);
        return {
          command: query.command(local, place),
          check: async ({ output }, requests) => {
            await guard(requests);
            const said = query.countLacking(output);
            if (said !== lacking)
              throw new Error(`it said that ${said} objects are lacking, and ${lacking} are`);
          },
          close: async () => {},
        };
      },
    };
  });
}

async function setUpQuestion(
  bench: Bench,
  query: RepositoryQuery,
  options: ExistenceOptions,
): Promise<Question> {
  const { stored } = options;
  const known = repositoriesOf(bench);
  const key = JSON.stringify([query.hash, stored]);
  const repository = stored && known.get(key);
  const fresh = await bench.newPlace();
  // What a tool remembers of it is as new as the question.
  const place = repository ? { ...repository, cacheFolder: fresh.cacheFolder } : fresh;
  // A folder of its own: what a tool keeps in it, others must not find.
  const { folder, paths, changed } = await linkLocal(bench, options);
  const local: HashedFolder = { folder, hashes: hashFiles(folder, paths, query.hash) };
  const run = (command: Command) => runUnmeasured(command, bench.signal);
  if (stored && !repository) {
    await query.found?.(place, bench.newPath('first'), run);
    const { storeFolder } = await writtenTree(bench, stored);
    const objects = hashFiles(storeFolder, listPaths(stored.files), query.hash);
    linkByContent(storeFolder, objects, join(place.storeFolder, query.objectsFolder));
    known.set(key, place);
  }
  await query.setUp(local, place, run);
  const contents = new Set(changed.map((path) => local.hashes.get(path)));
  if (!query.storesEmpty) contents.delete(createHash(query.hash).digest('hex'));
  const lacking = contents.size;
  return { local, place: await bench.reach(place, options.latencyMs), lacking };
}

const repositories = new WeakMap<Bench['server'], Map<string, Place>>();

/** Those of a bench that hold objects: no question changes what is there, and a million links take a minute. */
function repositoriesOf({ server }: Bench): Map<string, Place> {
  const known = repositories.get(server) ?? new Map<string, Place>();
  repositories.set(server, known);
  return known;
}
