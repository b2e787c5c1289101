/** What a collection would free in a workspace's repository: by a dry run, and after each collection. */
import { DrayError } from '../../api/error.ts';
import type { CollectSummary, JobContext } from '../../api/jobs/jobs.ts';
import type { Clock } from '../../base/clock.ts';
import { collectGarbage } from '../../jobs/collect/collect.ts';
import { findKnownPlaces, type KnownPlace, type PlacesHost } from './known-places.ts';
import { openRepositoryFile, type RepositoryFileHost, type RepositoryRecord } from './repository-file.ts';

type Garbage = NonNullable<RepositoryRecord['garbage']>;

/** @throws `notFound` without a workspace, whose remote and settings the collection uses */
export function workspaceOf({ id, knownAs }: KnownPlace): string {
  const root = knownAs.find(({ of }) => of !== 'user')?.of;
  if (root !== undefined) return root;
  throw new DrayError('notFound', `No workspace on this computer uses ${id}.`, {
    advice: 'Clone the repository first.',
    data: { id },
  });
}

export async function findGarbage(context: JobContext, nowMs: number): Promise<Garbage> {
  return garbageIn(await collectGarbage(context, { dryRun: true }), nowMs);
}

/** What is left after a collection. The stored size that was measured before falls by what was removed. */
export async function noteCollected(
  host: PlacesHost & RepositoryFileHost & { readonly clock: Clock },
  root: string,
  summary: CollectSummary,
): Promise<void> {
  const place = [...findKnownPlaces(host).values()].find(({ knownAs }) =>
    knownAs.some(({ of }) => of === root),
  );
  if (!place) return;
  const { removedBytes, removedObjects } = summary;
  const found = garbageIn(
    {
      ...summary,
      ...{ objects: summary.objects - removedObjects, bytes: summary.bytes - removedBytes },
      ...{ removedObjects: 0, removedBytes: 0 },
      ...(summary.savedDollarsPerMonth === undefined ? {} : { savedDollarsPerMonth: 0 }),
    },
    host.clock.nowMs(),
  );
  const left = { ...found, isCollected: true };
  await openRepositoryFile(host).change(place.id, (known) => {
    if (!known?.stored) return known && { ...known, garbage: left };
    const { bytes, objects, recordBytes } = known.stored;
    const stored = {
      ...known.stored,
      objects: Math.max(0, objects - removedObjects),
      bytes: Math.max(recordBytes, bytes - removedBytes),
    };
    return { ...known, stored, garbage: left };
  });
}

function garbageIn(summary: CollectSummary, nowMs: number): Garbage {
  const { bytes, commits, forgottenCommits, objects, savedDollarsPerMonth } = summary;
  const { repackedBytes, repackedPacks, youngBytes, youngObjects } = summary;
  return {
    at: new Date(nowMs).toISOString(),
    ...{ objects, bytes, commits, forgottenCommits, youngObjects, youngBytes, repackedPacks, repackedBytes },
    garbageObjects: summary.removedObjects,
    garbageBytes: summary.removedBytes,
    isCollected: false,
    ...(savedDollarsPerMonth === undefined ? {} : { savedDollarsPerMonth }),
  };
}
