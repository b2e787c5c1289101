/**
 * Makes the list of forgotten commits again, where `retention.json` is lost or damaged.
 *
 * A commit goes on the list only if a collection has removed some of its content: a key of it is gone, and is
 * on an avoid list, so the key was a candidate when no kept commit needed it. What is gone without that is
 * damage, and says nothing. A commit whose content is all there counts as kept again, whatever the lost list
 * said: then nothing of it is removed.
 *
 * `collection.json` says how many commits were forgotten. If more have lost content, then some were kept, and
 * nobody can say which; the list would give up what is left of them. So nothing is written then.
 *
 * The new list may be shorter than the count, so a new round counts it. Its state is written last: a run that
 * stops in between leaves a list that is still too short, and the next run makes it again.
 */
import { DrayError } from '../../api/error.ts';
import { formatPlural } from '../../api/text/numbers.ts';
import { isDamage } from '../../base/read-checked.ts';
import type { CommitHash, Entry } from '../../model/entry.ts';
import type { RemoteKey } from '../../remotes/object-store.ts';
import { readCollectionState } from '../../repository/collection/collection-state.ts';
import { createCollectionView } from '../../repository/collection/collection-view.ts';
import type { Commit } from '../../repository/commit.ts';
import { packKey, RETENTION_KEY, segmentKey } from '../../repository/keys.ts';
import { keysOfEntry } from '../../repository/manifest/entry-keys.ts';
import { readEntries } from '../../repository/manifest/read-entries.ts';
import { createRelocations, currentPlace } from '../../repository/packs/current-place.ts';
import { readRetention, type StoredRetention, writeRetention } from '../../repository/retention.ts';
import { readAllRefs } from '../collect/fence-refs.ts';
import { listContent } from '../collect/list-content.ts';
import { walkCommits } from '../history/verify/find-commits.ts';
import { findStored, type RetireTools, retireKeys } from './retire-keys.ts';

export interface RestoredRetention {
  /** Commits on the list. */
  readonly listed: number;
  /** As the collection had counted them. */
  readonly counted: number;
  readonly isPolicyKept: boolean;
}

/**
 * One LIST for each 1,000 objects, one GET for each commit, and one for each segment that is there of those
 * that no ref names.
 * @throws `damaged` if no list would be safe, or if a commit cannot be read
 */
export async function restoreRetention(tools: RetireTools): Promise<RestoredRetention> {
  const { context, repository, store } = tools;
  const { signal } = context;
  const state = (await readCollectionState(store, { repository, signal }))?.state;
  if (state?.phase === 'sealed') throw unfinished();
  const counted = state?.forgotten ?? 0;
  const { etag, retention } = await readReplaced(tools);
  const found = await findGone(tools);
  if (found.length > counted) throw uncertain(found.length, counted);
  const forgotten = [...new Set([...(retention?.forgotten ?? []), ...found])];
  const next = { repository, policy: retention?.policy, forgotten, lost: retention?.lost };
  // The one that is compared only by its etag cannot be read.
  const expected = etag === undefined ? undefined : { ...next, etag };
  const isWritten = await writeRetention(store, next, expected, { signal });
  if (!isWritten) throw changed();
  if (state && (state.phase === 'marked' || forgotten.length !== counted))
    await retireKeys(tools, [RETENTION_KEY], forgotten.length);
  return { listed: forgotten.length, counted, isPolicyKept: retention !== undefined };
}

async function readReplaced({ context: { signal }, repository, store }: RetireTools): Promise<{
  readonly etag: string | undefined;
  readonly retention: StoredRetention | undefined;
}> {
  try {
    const retention = await readRetention(store, { signal });
    if (retention && retention.repository !== repository) throw otherRepository(retention.repository);
    return { etag: retention?.etag, retention };
  } catch (error) {
    if (!isDamage(error) || error.data.reason === 'otherRepository') throw error;
    return { etag: (await findStored(store, RETENTION_KEY, signal))?.etag, retention: undefined };
  }
}

/** The commits of which a collection has removed content, the oldest first. */
async function findGone(tools: RetireTools): Promise<readonly CommitHash[]> {
  const { context, repository, store } = tools;
  const { signal } = context;
  const refs = (await readAllRefs(tools)).filter(({ state }) => state !== 'removed');
  const view = createCollectionView(store, { repository, signal });
  await view.refresh();
  if (view.round === 0) return [];
  const spared = new Set<RemoteKey>();
  const onPage = (objects: readonly { readonly key: RemoteKey }[]) => {
    for (const { key } of objects) if (view.avoids(key)) spared.add(key);
  };
  await listContent({ ...tools, signal, onPage });
  const isGone = (key: RemoteKey) => view.avoids(key) && !spared.has(key);
  const named = new Set(refs.map(({ commit }) => commit));
  const found: CommitHash[] = [];
  const onCommit = async (hash: CommitHash, commit: Commit) => {
    if (!named.has(hash) && (await hasLost(tools, commit, isGone))) found.push(hash);
  };
  const tips = refs.filter(({ state }) => state === 'live').map(({ commit }) => commit);
  await walkCommits(tools, { tips, findings: { report: rethrow }, onCommit });
  return found.toReversed();
}

async function hasLost(
  { context: { signal }, store }: RetireTools,
  { manifest }: Commit,
  isGone: (key: RemoteKey) => boolean,
): Promise<boolean> {
  const segments = manifest.kind === 'segments' ? manifest.segments : [];
  if (segments.some(({ hash }) => isGone(segmentKey(hash)))) return true;
  const relocations = createRelocations(store);
  const isThere = (pack: Parameters<typeof packKey>[0]) => !isGone(packKey(pack));
  const isLost = async (entry: Entry) => {
    if (![...keysOfEntry(entry)].some(isGone)) return false;
    if (entry.kind !== 'file' || entry.location.in !== 'pack') return true;
    return (await currentPlace(entry.location, { relocations, isThere, signal })) === undefined;
  };
  try {
    for await (const entries of readEntries(store, { manifest }, { signal }))
      for (const entry of entries) if (await isLost(entry)) return true;
  } catch (error) {
    // A segment that is damaged, or lost without a collection.
    if (!isDamage(error)) throw error;
  }
  return false;
}

function rethrow(error: unknown): void {
  throw error;
}

function unfinished(): DrayError {
  return new DrayError(
    'damaged',
    `${RETENTION_KEY} is lost while a collection removes content, so nobody can say yet which commits it is.`,
    {
      data: { key: RETENTION_KEY, reason: 'unfinishedCollection' },
      advice: 'Run "dray gc" to end the collection, then "dray repair" again.',
      command: 'dray gc',
    },
  );
}

function uncertain(found: number, counted: number): DrayError {
  const message = `${RETENTION_KEY} cannot be made again: ${formatPlural(found, 'commit')} ${found === 1 ? 'has' : 'have'} lost content, but only ${counted} had been forgotten. A list would give up the rest of a commit that was kept.`;
  return new DrayError('damaged', message, {
    data: { key: RETENTION_KEY, reason: 'uncertain' },
    advice: 'Put it back from a copy of the store, or push a clone to a new repository.',
  });
}

function otherRepository(other: string): DrayError {
  return new DrayError('damaged', `${RETENTION_KEY} is damaged: it belongs to the repository ${other}.`, {
    data: { key: RETENTION_KEY, reason: 'otherRepository' },
    advice: 'Remove it, then run "dray repair" again.',
  });
}

function changed(): DrayError {
  return new DrayError('conflict', `Another machine has written ${RETENTION_KEY} meanwhile.`, {
    retry: 'retry',
    advice: 'Run the command again.',
  });
}
