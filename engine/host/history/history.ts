/**
 * The requests of History: commits, branches and tags of a workspace's remote, and differences of commits.
 */
import { DrayError } from '../../api/error.ts';
import type { CommitEvent } from '../../api/events.ts';
import type { ChangeRow } from '../../api/host/changes.ts';
import type { RefRow } from '../../api/host/history.ts';
import type { AnswerOf } from '../../api/host.ts';
import { trimEnd } from '../../api/text/trim-ends.ts';
import { commitEvent, log, walkHistory } from '../../jobs/history/log.ts';
import type { Walk } from '../../jobs/history/path-history.ts';
import { findSoleCommits } from '../../jobs/history/sole-commits.ts';
import { readForgotten, whileKept } from '../../jobs/retention/forgotten.ts';
import { NO_CHANGES } from '../../jobs/session/no-changes.ts';
import { resolveContent } from '../../jobs/session/resolve-commit.ts';
import type { CommitHash, Entry } from '../../model/entry.ts';
import { readEntries } from '../../repository/manifest/read-entries.ts';
import { listRefs } from '../../repository/refs.ts';
import { checkSafePath } from '../check-path.ts';
import { type HandlersOf, type HostCall, jobContextOf } from '../port/host-call.ts';
import { previewEntry } from '../preview/preview-sources.ts';
import { type Commits, withCommits } from '../repository-read.ts';
import { readFileBytes } from './file-bytes.ts';
import { createFolderSums } from './folder-changes.ts';
import { changeRef, planSwitch, planVersionMerge } from './refs.ts';

/** The most commits that are read for the history of one path. Each costs a request. */
const WALKED_MAX = 10_000;
/** Such events come up to twenty times a second. */
const RESTS_TOLD_MAX = 100;

export const HISTORY: HandlersOf<'history'> = {
  'history.list': async ({ branch, limit, root }, call) =>
    withCommits(jobContextOf(call, root), async (commits) => {
      const { forgotten, refs } = await readRefs(commits, call.signal);
      const starts = startsOf(refs, branch);
      return { commits: await readHistory(commits, { refs, starts, limit, forgotten }), refs };
    }),

  'history.compare': async ({ from, limit, root, to }, call) => {
    if (from === undefined)
      return withCommits(jobContextOf(call, root), (commits) => readAdded(commits, to, limit, call.signal));
    const { diff } = await import('../../jobs/working-copy/diff.ts');
    const rows: ChangeRow[] = [];
    let isCut = false;
    const context = jobContextOf(call, root, {
      emit: (event) => {
        if (event.type !== 'change') return call.emit(event);
        const { type: _type, ...row } = event;
        if (rows.length === limit) isCut = true;
        else rows.push(row);
      },
    });
    const { changes } = await diff(context, { from, to });
    return { changes, rows, isCut };
  },

  'history.folders': async ({ folder, from, root, to }, call) => {
    const sums = createFolderSums(folder);
    await eachChange({ root, from, to, prefix: folder }, call, sums.add);
    return sums.answer;
  },

  'history.planRestore': async ({ commit, paths, root }, call) => {
    const { planRestore } = await import('../../jobs/working-copy/restore.ts');
    // A dot stands for the whole workspace.
    for (const path of paths) if (path !== '.') checkSafePath(path.replace(/\/$/, ''));
    return planRestore(jobContextOf(call, root), { paths, from: commit });
  },

  'history.placeRef': async ({ commit, ...input }, call) => {
    const { at, ...rest } = input;
    return changeRef({ ...rest, ref: commit, ...(at === undefined ? {} : { at, force: true }) }, call);
  },
  'history.renameRef': async ({ to, ...input }, call) => changeRef({ ...input, rename: to }, call),
  'history.removeRef': async (input, call) => changeRef({ ...input, remove: true }, call),

  'history.soleCommits': async ({ kind, root, ...request }, call) => {
    const { commits, isMore } = await findSoleCommits(jobContextOf(call, root), {
      ...request,
      kind: kind === 'tag' ? 'tags' : 'heads',
    });
    return { commits, isMore };
  },

  'history.planSwitch': planSwitch,
  'history.planMerge': planVersionMerge,

  'history.ofPath': async ({ after = [], from, limit, path, root }, call) => {
    checkSafePath(trimEnd(path, '/'));
    const walk: Walk = {
      walked: 0,
      max: WALKED_MAX,
      isCut: false,
      rest: after as readonly CommitHash[],
      onCommit: ({ rest, time, walked }) =>
        call.emit({ type: 'walk', walked, time, ...(rest.length > RESTS_TOLD_MAX ? {} : { next: rest }) }),
    };
    const ref = after[0] ?? from;
    const request = { path, limit, ...(ref === undefined ? {} : { ref }) };
    const { commits, isMore } = await log(jobContextOf(call, root), request, walk);
    return { commits, walked: walk.walked, ...(isMore ? { next: walk.rest } : {}) };
  },

  'history.preview': async ({ commit, path, root }, call) => {
    checkSafePath(path);
    return withCommits(jobContextOf(call, root), async ({ fetch, session, store }) => {
      const { signal } = call;
      const hash = await resolveContent(session, store, commit);
      const read = async () => previewEntry(store, { root, hash, commit: await fetch(hash), path }, signal);
      const preview = await whileKept(store, hash, read, { signal });
      if (preview) return preview;
      throw new DrayError('notFound', `The commit ${hash.slice(0, 12)} has nothing at ${path}.`, {
        data: { path, commit: hash },
      });
    });
  },
  'history.bytes': readFileBytes,
};

interface ComparedCommits {
  readonly root: string;
  /** Undefined: all of `to` is new. */
  readonly from: string | undefined;
  readonly to: string;
  /** Changes of other paths may be left out. */
  readonly prefix: string;
}

/** In the order of their paths. */
async function eachChange(
  { from, prefix, root, to }: ComparedCommits,
  call: HostCall,
  visit: (row: ChangeRow) => void,
): Promise<void> {
  if (from === undefined)
    return withCommits(jobContextOf(call, root), async ({ fetch, session, store }) => {
      const commit = await fetch(await resolveContent(session, store, to));
      for await (const entries of readEntries(store, commit, { signal: call.signal, prefix }))
        for (const entry of entries) visit(addedRow(entry));
    });
  const { diff } = await import('../../jobs/working-copy/diff.ts');
  const context = jobContextOf(call, root, {
    emit: (event) => {
      if (event.type !== 'change') return call.emit(event);
      const { type: _type, ...row } = event;
      visit(row);
    },
  });
  await diff(context, { from, to });
}

function addedRow(entry: Entry): ChangeRow {
  const { kind, path } = entry;
  return { change: 'added', path, kind, sizeBytes: kind === 'file' ? entry.sizeBytes : 0 };
}

interface Refs {
  readonly refs: readonly RefRow[];
  readonly forgotten: ReadonlySet<CommitHash>;
}

async function readRefs({ session, store }: Commits, signal: AbortSignal): Promise<Refs> {
  const [heads, tags] = await Promise.all([
    listRefs(store, 'heads', { signal }),
    listRefs(store, 'tags', { signal }),
  ]);
  const stored = [...heads, ...tags];
  const refs = stored.map(({ commit, name }) => {
    const [kind, shortName] = name.startsWith('tags/')
      ? (['tag', name.slice('tags/'.length)] as const)
      : (['branch', name.slice('heads/'.length)] as const);
    return {
      name: shortName,
      kind,
      commit,
      isCurrent: kind === 'branch' && shortName === session.state.branch,
    };
  });
  return { refs, forgotten: await readForgotten(store, stored, { signal }) };
}

/** The newest commits of one branch, or of all branches and tags. */
function startsOf(refs: readonly RefRow[], branch: string | undefined): CommitHash[] {
  const chosen = refs.filter(
    ({ kind, name }) => branch === undefined || (kind === 'branch' && name === branch),
  );
  if (branch !== undefined && chosen.length === 0 && refs.length > 0)
    throw new DrayError('notFound', `There is no branch ${branch}.`, { data: { branch } });
  return [...new Set(chosen.map(({ commit }) => commit as CommitHash))];
}

async function readHistory(
  { session, store }: Commits,
  {
    forgotten,
    limit,
    refs,
    starts,
  }: Refs & { readonly starts: readonly CommitHash[]; readonly limit: number },
): Promise<CommitEvent[]> {
  const events: CommitEvent[] = [];
  for await (const [hash, commit] of walkHistory(session, store, starts)) {
    const names = refs.filter((ref) => ref.commit === hash);
    events.push({
      ...commitEvent({ hash, commit }, forgotten),
      refs: names.map(({ kind, name }) => (kind === 'tag' ? `tag: ${name}` : name)),
    });
    if (events.length >= limit) break;
  }
  return events;
}

/** The first entries of a commit as added rows. The totals come from the commit, so no more is read. */
async function readAdded(
  { fetch, session, store }: Commits,
  to: string,
  limit: number,
  signal: AbortSignal,
): Promise<AnswerOf<'history.compare'>> {
  const commit = await fetch(await resolveContent(session, store, to));
  const { bytes, files, folders, links } = commit.totals;
  const changes = { ...NO_CHANGES, added: files + links + folders, bytes };
  const rows: ChangeRow[] = [];
  for await (const entries of readEntries(store, commit, { signal, prefetch: 1 })) {
    for (const entry of entries) {
      if (rows.length === limit) return { changes, rows, isCut: true };
      rows.push(addedRow(entry));
    }
  }
  return { changes, rows, isCut: false };
}
