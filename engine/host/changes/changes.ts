/** Lists the changes of a push or a pull by rows, and previews both sides of one row. */
import { join } from 'node:path';
import type { ChangeEvent, ConflictEvent, JobEvent } from '../../api/events.ts';
import type { ChangeList } from '../../api/host/changes.ts';
import type { ChangeTotals } from '../../api/jobs/jobs.ts';
import { trimEnd } from '../../api/text/trim-ends.ts';
import { layoutOf } from '../../jobs/working-copy/hash-files.ts';
import type { CommitHash } from '../../model/entry.ts';
import type { Layout } from '../../model/layout.ts';
import { checkSafePath } from '../check-path.ts';
import { noteOutgoing } from '../outgoing.ts';
import { type HandlersOf, type HostCall, jobContextOf } from '../port/host-call.ts';
import { previewEntry, previewLocalFile } from '../preview/preview-sources.ts';
import { withCommits } from '../repository-read.ts';
import { markGone } from './deleted-folders.ts';
import { scanFolder, stopScan } from './folder-scan.ts';
import { emitFolderNews, untilWatched } from './folder-watches.ts';
import { createRowList, type RowList } from './row-list.ts';

/** The largest local file whose preview shows a hash; reading it takes about a second. */
const HASHED_BYTES_MAX = 256 * 1024 * 1024;

export const CHANGES: HandlersOf<'changes'> = {
  'changes.status': async ({ remote = false, root }, call) => {
    const { status } = await import('../../jobs/working-copy/status.ts');
    const found = await status(jobContextOf(call, root), { remote });
    noteOutgoing(call.host, root, found);
    return found;
  },
  'changes.open': async ({ direction, root, using }, call) => {
    const { changeLists, keptChoices } = call.host;
    const list = await (direction === 'push' ? openPush : openPull)(root, using, call);
    return { ...list, kept: keptChoices.open(root, list, changeLists.find(list.list)) };
  },
  'changes.rows': async ({ list, root, view, ...range }, { host, signal }) => {
    const found = host.changeLists.find(list);
    const { rows, total } = await found.rows(view, range, signal);
    return { total, rows: rows.map((row) => markGone(root, row, found.isPull)) };
  },
  'changes.seek': async ({ list, path, root, view }, { host, signal }) => {
    const found = host.changeLists.find(list);
    const { index, row } = await found.seek(view, path, signal);
    return {
      ...(index === undefined ? {} : { index }),
      ...(row ? { row: markGone(root, row, found.isPull) } : {}),
    };
  },
  'changes.choices': async ({ direction, offset, root }, { host }) =>
    host.keptChoices.choices(root, direction, offset),
  'changes.choose': async ({ direction, list, root, ...choice }, { host }) => ({
    version: host.keptChoices.choose(root, direction, host.changeLists.find(list), choice),
  }),
  'changes.keep': async ({ direction, root, ...parts }, { host }) => {
    host.keptChoices.keep(root, direction, parts);
    return {};
  },
  'changes.send': async (shown, { host }) => {
    stopScan(shown.root, host);
    const queue = await host.transfers();
    return { id: queue.start(host.keptChoices.order(shown)) };
  },
  'changes.watch': async ({ root }, call) => {
    const { emit, host } = call;
    const leave = host.keptChoices.listen(root, (version) => emit({ type: 'choices', root, version }));
    try {
      return await emitFolderNews(root, call);
    } finally {
      leave();
    }
  },
  'changes.look': async ({ list, root }, call) => {
    const { digest: before } = call.host.changeLists.find(list);
    const { commit, digest, lookedMs, totals } = await scanFolder(root, call);
    const rows = totals.added + totals.modified + totals.deleted + totals.renamed + totals.mode;
    noteOutgoing(call.host, root, { changes: totals, commit });
    return { list, isSame: digest === before, lookedMs, rows, totals };
  },
  'changes.ignore': async ({ path, root }, call) => {
    const { ignorePath } = await import('../../jobs/working-copy/ignore-file.ts');
    checkSafePath(trimEnd(path, '/'));
    return ignorePath(jobContextOf(call, root), path);
  },
  'changes.unignore': async ({ root, ...added }, call) => {
    const { unignorePath } = await import('../../jobs/working-copy/ignore-file.ts');
    return { isDone: unignorePath(jobContextOf(call, root), added) };
  },
  'changes.discard': async ({ paths, root }, call) => {
    for (const path of paths) checkSafePath(trimEnd(path, '/'));
    stopScan(root, call.host);
    const { discardNew } = await import('../../jobs/kept/discard-new.ts');
    const { committed, ...discarded } = await discardNew(jobContextOf(call, root), paths);
    if (committed.length === 0) return discarded;
    const queue = await call.host.transfers();
    const id = queue.start({ kind: 'restore', root, paths: committed.map((path) => trimEnd(path, '/')) });
    return { ...discarded, transfer: id };
  },
  'changes.close': async ({ list }, { host }) => {
    host.changeLists.drop(list);
    return {};
  },
  'changes.preview': async (input, call) => {
    const { commit, direction = 'push', fromPath, path, root } = input;
    checkSafePath(path);
    if (fromPath !== undefined) checkSafePath(fromPath);
    const before = fromPath ?? path;
    return withCommits(jobContextOf(call, root), async ({ baseHash, fetch, session, store, tip }) => {
      const { signal } = call;
      const hashedUpTo = hashedUpToOf(layoutOf(session));
      const here = (name: string) => previewLocalFile(join(root, name), { hashedUpTo, signal });
      const stored = async (name: string, given: string | undefined) => {
        if (given === undefined) return undefined;
        const hash = given as CommitHash;
        return previewEntry(store, { root, hash, commit: await fetch(hash), path: name }, signal);
      };
      const sides =
        direction === 'push'
          ? await Promise.all([stored(before, baseHash), here(path)])
          : await Promise.all([here(before), stored(path, commit ?? (await tip()))]);
      return { ...(sides[0] ? { before: sides[0] } : {}), ...(sides[1] ? { after: sides[1] } : {}) };
    });
  },
};

/** The hash of a chunked file is that of its chunk list, so a preview does not compute it. */
function hashedUpToOf({ chunkAbove }: Layout): number {
  return chunkAbove === 0 ? HASHED_BYTES_MAX : Math.min(chunkAbove, HASHED_BYTES_MAX);
}

async function openPush(root: string, using: string | undefined, call: HostCall): Promise<ChangeList> {
  await untilWatched(root, call.host);
  const lookedMs = call.host.clock.nowMs();
  const { status } = await import('../../jobs/working-copy/status.ts');
  const rows = createRowList();
  const found = await status(
    listening(call, root, (event) => addRow(rows, event)),
    {},
  );
  noteOutgoing(call.host, root, found);
  const { changes: totals, failed } = found;
  await rows.end(call.signal);
  const list = call.host.changeLists.keep(call.owner, rows, `push ${root}`, using);
  const { deletions } = rows;
  return { list, direction: 'push', totals, conflicts: 0, failed, deletions, lookedMs };
}

/**
 * A dry run in which the remote's side wins every conflict, so each changed path has a row. Conflict events
 * arrive before the changes, and mark the rows that need a decision.
 */
async function openPull(root: string, using: string | undefined, call: HostCall): Promise<ChangeList> {
  const lookedMs = call.host.clock.nowMs();
  const { pull } = await import('../../jobs/pull/pull.ts');
  const rows = createRowList({ isPull: true });
  const conflicts = new Map<string, ConflictEvent>();
  /** Changes that the totals count, and that are shown as conflicts. */
  const counted: ChangeEvent[] = [];
  const context = listening(call, root, (event) => {
    if (event.type === 'conflict') conflicts.set(event.path, event);
    else if (conflicts.delete(event.path)) {
      counted.push(event);
      rows.push({ ...rowOf(event), change: 'conflict' });
    } else addRow(rows, event);
  });
  const { changes, commit, failed } = await pull(context, { dryRun: true, conflicts: 'theirs' });
  // These conflicts have no change event, such as a local file at the path of a remote folder.
  for (const { path } of conflicts.values())
    rows.push({ change: 'conflict', path, kind: 'file', sizeBytes: 0 });
  await rows.end(call.signal);
  const list = call.host.changeLists.keep(call.owner, rows, `pull ${root}`, using);
  return {
    list,
    direction: 'pull',
    lookedMs,
    totals: totalsWithout(changes, counted),
    conflicts: counted.length + conflicts.size,
    failed,
    deletions: rows.deletions,
    ...(commit === null ? {} : { commit }),
  };
}

/** The bytes remain, because they arrive if the remote's side wins. */
function totalsWithout(totals: ChangeTotals, events: readonly ChangeEvent[]): ChangeTotals {
  const left = { ...totals };
  // Time-only changes are not counted.
  for (const { change } of events) if (change !== 'time') left[change] -= 1;
  return left;
}

type RowEvent = ChangeEvent | ConflictEvent;

/** A job context that passes rows to `onRow` and all other events to the window. */
function listening(call: HostCall, root: string, onRow: (event: RowEvent) => void) {
  const context = jobContextOf(call, root);
  return {
    ...context,
    emit: (event: JobEvent) => {
      if (event.type === 'change' || event.type === 'conflict') onRow(event);
      else context.emit(event);
    },
  };
}

function addRow(rows: RowList, event: RowEvent): void {
  if (event.type === 'change') rows.push(rowOf(event));
}

function rowOf({ type: _type, ...row }: Extract<RowEvent, { type: 'change' }>) {
  return row;
}
