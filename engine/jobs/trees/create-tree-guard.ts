/**
 * Asks, before the first change at a destination and before each change of what may be a repository's object,
 * whether a repository lies there (`../places/repository-guard.ts`).
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DrayError } from '../../api/error.ts';
import type { RepositoryPermission } from '../../api/jobs/trees.ts';
import { DESCRIPTOR_KEY } from '../../repository/keys.ts';
import { parsePlace } from '../places/places.ts';
import {
  allowsRepository,
  createFoundRepositories,
  hasDescriptor,
  possibleRepositories,
  refusalFrom,
  refuseRepositoryAbove,
  repositoryRefusal,
} from '../places/repository-guard.ts';
import { isFileError, stopRun, type TreeRun } from './copy-run.ts';
import type { TreePair } from './open-pair.ts';
import type { TreeSide } from './sides.ts';
import { deletionPermission, type TreeGuard } from './tree-guard.ts';

/** Above this many, the answers about the oldest folders are forgotten. */
const FOLDERS_MAX = 100_000;

/** A descriptor has some hundred bytes. */
const DESCRIPTOR_BYTES_MAX = 64 * 1024;

type GuardedRun = Pick<
  TreeRun,
  'context' | 'destination' | 'part' | 'request' | 'source' | 'stops' | 'tasks'
>;

export function createTreeGuard(run: GuardedRun, pair: Pick<TreePair, 'meters' | 'only'>): TreeGuard {
  const { destination } = run;
  const allowed = deletionPermission(run.request);
  const found = createFoundRepositories();
  const asked = new Map<string, Promise<void> | undefined>();
  let above: Promise<void> | undefined;
  // A fleet asks once, when it begins.
  let isAboveKnown = allowed === true || run.part !== undefined;
  const refuseUnlessMirror = async (folder: string, error: DrayError) => {
    if (!(await isSameRepository(run, folder))) stopRun(run, 'changesRepository', error);
  };
  const askAbove = async () => {
    try {
      await refuseAbove(run, pair, allowed);
    } catch (error) {
      await refuseUnlessMirror('', refusalFrom(error));
    }
    isAboveKnown = true;
  };
  const askAt = async (folder: string) => {
    const name = folder.split('/').at(-1)!;
    const isOne =
      !allowsRepository(allowed, name) && (await hasRepository(destination, folder, run.tasks.signal));
    if (isOne) await refuseUnlessMirror(folder, repositoryRefusal(name));
    asked.set(folder, undefined);
  };
  return {
    before(path) {
      if (allowed === true) return undefined;
      if (!isAboveKnown) above ??= askAbove();
      const waits = isAboveKnown || !above ? [] : [above];
      for (const folder of possibleRepositories(destination.pathOf(path))) {
        if (!asked.has(folder)) {
          if (asked.size >= FOLDERS_MAX) asked.delete(asked.keys().next().value!);
          asked.set(folder, askAt(folder));
        }
        const answer = asked.get(folder);
        if (answer) waits.push(answer);
      }
      return waits.length === 0 ? undefined : Promise.all(waits).then(() => {});
    },
    isMirror: (folder) => isSameRepository(run, folder.replace(/\/$/, '')),
    listed: (path) => found.listed(path),
    holderOf: (path) => found.holderOf(path),
  };
}

async function refuseAbove(
  { context, destination, request }: GuardedRun,
  { meters, only }: Pick<TreePair, 'meters' | 'only'>,
  allowed: RepositoryPermission | undefined,
): Promise<void> {
  if (destination.kind === 'local') {
    const place = {
      kind: 'local',
      path: destination.root,
      isFolderForm: true,
      text: destination.text,
    } as const;
    return refuseRepositoryAbove(context, place, { allowed, meters });
  }
  const place = parsePlace(context, request.destination);
  if (place.kind === 'stdio') throw new Error('unreachable');
  await refuseRepositoryAbove(context, place, { allowed, meters, isFolder: only === undefined });
}

/** Both sides have the same descriptor, which names the repository by its id. */
async function isSameRepository(
  { destination, source, tasks }: GuardedRun,
  folder: string,
): Promise<boolean> {
  const [ours, theirs] = await Promise.all([
    readDescriptorOf(source, folder, tasks.signal),
    readDescriptorOf(destination, folder, tasks.signal),
  ]);
  return ours !== undefined && theirs !== undefined && Buffer.compare(ours, theirs) === 0;
}

/** Undefined where there is none, or none that can be read. */
async function readDescriptorOf(
  side: TreeSide,
  folder: string,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  const path = folder === '' ? DESCRIPTOR_KEY : `${folder}/${DESCRIPTOR_KEY}`;
  try {
    if (side.kind === 'local') return readFileSync(join(side.root, path));
    const read = () => side.store.read(path, { maxBytes: DESCRIPTOR_BYTES_MAX, signal });
    return (await side.limit.run(read, { bytes: 0, signal }))?.bytes;
  } catch (error) {
    if (error instanceof DrayError && !isFileError(error)) throw error;
    return undefined;
  }
}

async function hasRepository(side: TreeSide, folder: string, signal: AbortSignal): Promise<boolean> {
  if (side.kind === 'local') return existsSync(join(side.root, folder, DESCRIPTOR_KEY));
  return side.limit.run(() => hasDescriptor(side.store, folder, signal), { bytes: 0, signal });
}
