/** Reads files for their hashes only (status, diff, conflicts), and writes what it finds to the index. */
import { Budget } from '../../base/budget.ts';
import { type ReadRequest, readFiles } from '../../files/read/file-reader.ts';
import type { IndexedChange, PendingRead } from '../../index/file-table.ts';
import { DEFAULT_LAYOUT, type Layout } from '../../model/layout.ts';
import { createProgress, type Progress } from '../session/progress.ts';
import type { Session } from '../session/session.ts';

const MEMORY_BYTES = 96 * 1024 * 1024;

/** The layout decides how a large file's hash is made; before a repository is known, the default one. */
export function layoutOf(session: Session): Layout {
  return session.config.remotes[session.remoteName]?.layout ?? DEFAULT_LAYOUT;
}

/** Returns how many files failed; each was told as an event. */
export async function hashFiles(session: Session, pending: Iterable<PendingRead>): Promise<number> {
  const { index, context, workspace } = session;
  const paths = new Map<number, string>();
  let progress: Progress | undefined;
  let failed = 0;
  const batches = readFiles(numbered(pending, paths), {
    root: workspace.root,
    layout: layoutOf(session),
    wantBytes: false,
    memory: new Budget(MEMORY_BYTES),
    signal: context.signal,
  });
  for await (const batch of batches) {
    // Most calls find nothing to read: then no phase is told.
    progress ??= createProgress(session, { phase: 'hash' });
    const told = progress;
    index.transaction(() => {
      for (const result of batch.results) {
        if (result.kind === 'chunk') {
          told.add(0, result.sizeBytes);
          continue;
        }
        const path = paths.get(result.id)!;
        paths.delete(result.id);
        if (result.kind === 'failed') {
          failed += 1;
          context.emit({ type: 'fileFailed', path, error: result.error });
          continue;
        }
        told.add(1, result.kind === 'whole' ? result.stat.sizeBytes : 0);
        index.files.setRead(path, { kind: 'file', ...result.stat, hash: result.hash });
      }
    });
    batch.release();
  }
  progress?.end();
  return failed;
}

/** Changed files (among these paths, when they are given) that may turn out to equal the base: same size, other stat. */
export function* undecidedFiles(session: Session, paths?: ReadonlySet<string>): Generator<PendingRead> {
  for (let after = ''; ; ) {
    const page = session.index.files.pageOfUndecided(after);
    yield* paths ? page.filter(({ path }) => paths.has(path)) : page;
    const last = page.at(-1);
    if (!last) return;
    after = last.path;
  }
}

/** Changed files (among these paths, when they are given) whose content is not known yet. */
export function* unreadAmong(session: Session, paths?: ReadonlySet<string>): Generator<PendingRead> {
  for (const page of session.index.files.changes(0)) {
    for (const change of page) {
      if (isUnread(change) && (!paths || paths.has(change.path)))
        yield { path: change.path, sizeBytes: change.after!.sizeBytes };
    }
  }
}

export function isUnread({ after }: IndexedChange): boolean {
  return after?.kind === 'file' && after.hash === undefined;
}

function* numbered(pending: Iterable<PendingRead>, paths: Map<number, string>): Generator<ReadRequest> {
  let id = 0;
  for (const { path, sizeBytes } of pending) {
    paths.set(id, path);
    yield { id, path, sizeBytes };
    id += 1;
  }
}
