/** `dray restore`: named paths as a commit has them. The working copy's own content at these paths is replaced: that is what was asked. */
import { relative, resolve } from 'node:path';
import { DrayError } from '../api/error.ts';
import type { JobContext, RestoreRequest, RestoreSummary } from '../api/jobs.ts';
import type { Entry } from '../model/entry.ts';
import type { ObjectStore } from '../remotes/object-store.ts';
import type { Commit } from '../repository/commit.ts';
import { readEntries } from '../repository/read-entries.ts';
import { applyChanges } from './apply-changes.ts';
import { ensureBase, fetchCommit } from './base-commit.ts';
import { connect } from './connection.ts';
import { linkRepository } from './link-repository.ts';
import { refreshIndex } from './refresh-index.ts';
import { requireBase, resolveCommit } from './resolve-commit.ts';
import { openSession, type Session } from './session.ts';

export async function restore(context: JobContext, request: RestoreRequest): Promise<RestoreSummary> {
  const session = await openSession(context, 'restore');
  try {
    const wanted = request.paths.map((path) => toWorkspacePath(session, path));
    const connection = await connect(session);
    const { store } = connection;
    try {
      const link = await linkRepository(session, store, session.state.branch);
      await ensureBase(session, store, link);
      const hash =
        request.from === undefined ? requireBase(session) : await resolveCommit(session, store, request.from);
      const commit = await fetchCommit(session, store, hash);
      await refreshIndex(session);
      const entries = await collectEntries(session, store, commit, wanted);
      const differing = entries.filter((entry) => !isThere(session, entry));
      const files = differing.filter((entry) => entry.kind === 'file');
      const bytes = files.reduce((sum, entry) => sum + entry.sizeBytes, 0);
      const mark = session.index.settings.base;
      session.index.settings.base = undefined;
      const applied = await applyChanges({
        session,
        connection,
        link,
        totals: { files: differing.length, bytes },
        deletions: [],
        writes: [differing],
        givenUp: new Set(differing.map((entry) => entry.path)),
      });
      // Writing a path makes it its own base; the base commit's entry there comes back when it is another one.
      if (request.from === undefined) session.index.settings.base = mark;
      else await ensureBase(session, store, link);
      return { restored: differing.length - applied.failed, bytes: applied.bytes, failed: applied.failed };
    } finally {
      await store.close();
    }
  } finally {
    session.close();
  }
}

function toWorkspacePath(session: Session, path: string): string {
  const inside = relative(session.workspace.root, resolve(session.context.directory, path)).replaceAll(
    '\\',
    '/',
  );
  if (inside === '..' || inside.startsWith('../')) {
    throw new DrayError('usage', `${path} is not inside the workspace ${session.workspace.root}.`, {
      data: { path },
    });
  }
  return inside;
}

async function collectEntries(
  session: Session,
  store: ObjectStore,
  commit: Commit,
  wanted: readonly string[],
): Promise<Entry[]> {
  const entries = new Map<string, Entry>();
  for (const path of wanted) {
    let found = 0;
    for await (const page of readEntries(store, commit, { prefix: path, signal: session.context.signal })) {
      for (const entry of page) {
        if (path !== '' && entry.path !== path && !entry.path.startsWith(`${path}/`)) continue;
        found += 1;
        entries.set(entry.path, entry);
      }
    }
    if (found === 0) {
      throw new DrayError('notFound', `The commit has nothing at ${path}. "dray ls" shows what it has.`, {
        data: { path },
      });
    }
  }
  return [...entries.values()];
}

/** Whether the working copy has the entry already, as far as the index knows: what it does not know is written again. */
function isThere(session: Session, entry: Entry): boolean {
  const working = session.index.files.find(entry.path, 0)?.after;
  if (!working || working.kind !== entry.kind) return false;
  if (entry.kind === 'folder') return true;
  if (entry.kind === 'link') return working.hash === entry.target;
  return working.hash === entry.blob && working.executable === entry.executable;
}
