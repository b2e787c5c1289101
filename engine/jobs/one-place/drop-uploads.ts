/** Removes the uploaded parts of a transfer that is given up for good: they would cost storage. */
import type { JobContext } from '../../api/jobs/jobs.ts';
import type { TreePairRequest } from '../../api/jobs/trees.ts';
import { systemClock } from '../../base/clock.ts';
import { TaskSet } from '../../base/task-set.ts';
import type { MultipartUpload } from '../../remotes/object-store.ts';
import { linkRepository } from '../session/link-repository.ts';
import { openSession } from '../session/open-workspace.ts';
import { type OpenedRemote, openSessionRemote } from '../session/opened-remote.ts';
import { openTreePair } from '../trees/open-pair.ts';
import { openKnowledge } from '../trees/pair-memory.ts';

/** The uploads of this copy or sync. Those of other tools and of other pairs of places stay. */
export async function dropTreeUploads(context: JobContext, request: TreePairRequest): Promise<void> {
  await using pair = await openTreePair(context, request);
  if (pair.destination.kind === 'local') return;
  const nowMs = systemClock.nowMs();
  using knowledge = openKnowledge(context, { pair: pair.identity, noIndex: true, nowMs });
  await drop(context, pair.destination, knowledge.index.uploads);
}

/** The uploads of a push from this workspace to its remote. */
export async function dropPushUploads(context: JobContext): Promise<void> {
  using session = await openSession(context, 'push');
  await using remote = await openSessionRemote(session);
  const { known } = await linkRepository(session, remote.store, session.state.branch);
  await drop(context, remote, session.index.repositories.uploadJournal(known.id));
}

interface Journal {
  all(): readonly MultipartUpload[];
  forget(key: string): void;
}

async function drop(
  { signal }: JobContext,
  { limit, store }: Pick<OpenedRemote, 'limit' | 'store'>,
  journal: Journal,
): Promise<void> {
  const { multipart } = store;
  if (!multipart) return;
  const tasks = new TaskSet(signal);
  for (const upload of journal.all())
    tasks.spawn(async () => {
      await limit.run(() => multipart.abort(upload, { signal: tasks.signal }), {
        bytes: 0,
        signal: tasks.signal,
      });
      journal.forget(upload.key);
    });
  await tasks.settle();
}
