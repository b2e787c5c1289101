/**
 * The branches and newest commits of a repository. Two listings, and two requests for each of 20 branches.
 */
import type { BrowsedRepository } from '../../api/host/browse.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import { type LocalPlace, openPlace, type RemotePlace } from '../../jobs/places/places.ts';
import { openRepositoryAt } from '../../jobs/session/opened-remote.ts';
import { readCommit } from '../../repository/commit.ts';
import { listRefNames, readRef } from '../../repository/refs.ts';

const BRANCHES_MAX = 20;

export async function readRepository(
  context: JobContext,
  place: LocalPlace | RemotePlace,
): Promise<BrowsedRepository> {
  const { signal } = context;
  await using remote =
    place.kind === 'remote'
      ? await openPlace(context, place, { at: 'place' })
      : await openRepositoryAt(context, { kind: 'file', path: place.path });
  const { store } = remote;
  const [names, tags] = await Promise.all([
    listRefNames(store, 'heads', { signal }),
    listRefNames(store, 'tags', { signal }),
  ]);
  const branches = await Promise.all(
    names.slice(0, BRANCHES_MAX).map(async (name) => {
      const ref = await readRef(store, name, { signal });
      if (!ref) return undefined;
      const { author, message, time, totals } = await readCommit(store, ref.commit, { signal });
      const { bytes, files } = totals;
      return {
        name: name.replace(/^heads\//, ''),
        commit: ref.commit,
        files,
        bytes,
        author,
        message,
        time,
      };
    }),
  );
  // A branch may be deleted between the two requests.
  return {
    branches: branches.filter((branch) => branch !== undefined),
    branchCount: names.length,
    tagCount: tags.length,
  };
}
