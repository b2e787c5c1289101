/** Entrants that query what a repository with one object per content lacks of a folder, without a cache. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { hashFiles, linkByContent } from '../data/content-links.ts';
import { type DatasetShape, listPaths } from '../data/dataset.ts';
import { guardObjects } from '../data/stored-objects.ts';
import { writtenTree } from '../data/written-trees.ts';
import type { Bench } from '../machines/bench.ts';
import { type Command, runUnmeasured } from '../machines/measure.ts';
import { linkedHolding, type Needs, writtenHolding } from '../scenarios/holding.ts';
import { NO_ROOM, roomOf } from '../scenarios/room.ts';
import type { Attempt, Entrant } from '../scenarios/scenario.ts';
import type { Contender, ContenderName, HashedFolder, Place, RepositoryQuery } from './contender.ts';
import { type DryRunOptions, linkLocal } from './dry-run-entrants.ts';
import { createUnable, mapContenders } from './transfer-entrants.ts';

/** The tools with one object for each content. */
const REPOSITORY_TOOLS: readonly ContenderName[] = ['dray', 'dvc'];

export type ExistenceOptions = Pick<DryRunOptions, 'stored' | 'local' | 'by' | 'latencyMs'>;

/** The hashes of those tools. */
const HASHES = ['sha256', 'md5'] as const;
/** Bytes for each file: a line of DVC's list or a row of Dray's index. */
const LIST_BYTES = 512;

interface Question {
  readonly local: HashedFolder;
  readonly place: Place;
  /** The number of contents that the repository lacks. */
  readonly lacking: number;
}

/**
 * Each tool has its own links to the local files, and DVC another set in its cache; a list of a million files
 * takes about 70 MB.
 */
export function needsOfExistence({ local, stored }: Pick<ExistenceOptions, 'local' | 'stored'>): Needs {
  const shape = local.kind === 'all' ? local.shape : stored;
  const files = local.kind === 'all' ? local.shape.files : local.files;
  const { inodes } = shape ? roomOf({ ...shape, files }) : NO_ROOM;
  return {
    holdings: stored ? [writtenHolding(stored), ...HASHES.map((hash) => linkedHolding(stored, hash))] : [],
    source: { bytes: files * LIST_BYTES, inodes: inodes * (REPOSITORY_TOOLS.length + 1) },
  };
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
        if (!asked) throw new Error('There is no repository to query.');
        const { lacking, local, place } = asked;
        await query.forget(local, place);
        const guard = await guardObjects(bench, place);
        return {
          command: query.command(local, place),
          check: async ({ output }, requests) => {
            await guard(requests);
            const said = query.countLacking(output);
            if (said !== lacking)
              throw new Error(`it reported ${said} missing objects instead of ${lacking}`);
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
  const fresh = await bench.newPlace();
  const repository = stored ? await linkedRepository(bench, query, stored) : fresh;
  // Each query starts with an empty cache.
  const place = { ...repository, cacheFolder: fresh.cacheFolder };
  // Its own folder, so that no tool finds the state of another.
  const { folder, paths, changed } = await linkLocal(bench, options);
  const local: HashedFolder = { folder, hashes: hashFiles(folder, paths, query.hash) };
  const run = (command: Command) => runUnmeasured(command, bench.signal);
  await query.setUp(local, place, run);
  const contents = new Set(changed.map((path) => local.hashes.get(path)));
  if (!query.storesEmpty) contents.delete(createHash(query.hash).digest('hex'));
  const lacking = contents.size;
  return { local, place: await bench.reach(place, options.latencyMs), lacking };
}

/** Shared, since no query changes it and a million links take a minute. */
function linkedRepository(bench: Bench, query: RepositoryQuery, stored: DatasetShape): Promise<Place> {
  return bench.hold(linkedHolding(stored, query.hash), async () => {
    const place = await bench.newPlace();
    await query.found?.(place, bench.newPath('first'), (command) => runUnmeasured(command, bench.signal));
    const { storeFolder } = await writtenTree(bench, stored);
    const objects = hashFiles(storeFolder, listPaths(stored.files), query.hash);
    linkByContent(storeFolder, objects, join(place.storeFolder, query.objectsFolder));
    return { thing: place, folders: [place.storeFolder] };
  });
}
