/** Reads files only to hash them (status, diff, conflicts), and stores the hashes in the index. */
import { Budget } from '../../base/budget.ts';
import { type ReadRequest, readFiles } from '../../files/read/file-reader.ts';
import type { IndexedChange } from '../../index/file-row.ts';
import type { PendingRead } from '../../index/file-table.ts';
import { DEFAULT_LAYOUT, type Layout } from '../../model/layout.ts';
import type { Session } from '../session/open-workspace.ts';
import { createProgress, type Progress } from '../session/progress.ts';

const MEMORY_BYTES = 96 * 1024 * 1024;

/** The layout decides how a large file is hashed. Before a repository is known it is the default one. */
export function layoutOf(session: Session): Layout {
  return session.config.remotes[session.remoteName]?.layout ?? DEFAULT_LAYOUT;
}

/** Emits an event for each file that fails, and returns their number. */
export async function hashFiles(session: Session, pending: Iterable<PendingRead>): Promise<number> {
  const { index, context, workspace } = session;
  const reading = new Map<number, ReadRequest>();
  let progress: Progress | undefined;
  let failed = 0;
  const batches = readFiles(numbered(pending, reading), {
    root: workspace.root,
    layout: layoutOf(session),
    wantBytes: false,
    memory: new Budget(MEMORY_BYTES),
    signal: context.signal,
  });
  for await (const batch of batches) {
    // Most calls have nothing to read and then show no phase.
    progress ??= createProgress(session, { phase: 'hash' });
    const shown = progress;
    index.transaction(() => {
      for (const result of batch.results) {
        const request = reading.get(result.id)!;
        const { path } = request;
        if (result.kind === 'chunk') {
          shown.begin(request);
          shown.add(0, result.sizeBytes, path);
          continue;
        }
        reading.delete(result.id);
        shown.finish(path);
        if (result.kind === 'failed') {
          failed += 1;
          context.emit({ type: 'fileFailed', path, error: result.error });
          continue;
        }
        shown.add(1, result.kind === 'whole' ? result.stat.sizeBytes : 0);
        index.files.setRead(path, { kind: 'file', ...result.stat, hash: result.hash });
      }
    });
    batch.release();
  }
  progress?.end();
  return failed;
}

/** Changed files (among `paths`, if given) that may equal the base: same size, other stat. */
export function* undecidedFiles(session: Session, paths?: ReadonlySet<string>): Generator<PendingRead> {
  for (let after = ''; ; ) {
    const page = session.index.files.pageOfUndecided(after);
    yield* paths ? page.filter(({ path }) => paths.has(path)) : page;
    const last = page.at(-1);
    if (!last) return;
    after = last.path;
  }
}

/** Changed files (among `paths`, if given) whose content is not known yet. */
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

function* numbered(
  pending: Iterable<PendingRead>,
  reading: Map<number, ReadRequest>,
): Generator<ReadRequest> {
  let id = 0;
  for (const { path, sizeBytes } of pending) {
    const request = { id, path, sizeBytes };
    reading.set(id, request);
    yield request;
    id += 1;
  }
}
