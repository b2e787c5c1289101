/**
 * Fetches what enters the workspace's scope. The files come first and the scope last: until then they are
 * files outside of it, which no command touches. A file that is already at its path and equals the base
 * stays. One that an earlier run fetched is brought to the base (`unfinished-widening.ts`). Another one stops
 * the command: nobody knows on which commit it is based, so a push of it could undo what others did.
 */
import { DrayError } from '../../api/error.ts';
import type { Change } from '../../model/diff.ts';
import { type CommitHash, comparePaths, type Entry } from '../../model/entry.ts';
import type { Scope } from '../../model/scope.ts';
import type { Commit } from '../../repository/commit.ts';
import { readEntries } from '../../repository/manifest/read-entries.ts';
import type { WorkspaceState } from '../../workspace/workspace-folder.ts';
import { settleUnconfirmedPush } from '../push/unconfirmed-push.ts';
import { whileKept } from '../retention/forgotten.ts';
import { type BaseCommit, baseMark, ensureBase, rememberBlob } from '../session/base/base-commit.ts';
import { type LinkedRepository, linkRepository } from '../session/link-repository.ts';
import type { Session } from '../session/open-workspace.ts';
import type { OpenedRemote } from '../session/opened-remote.ts';
import { scopeOf } from '../session/workspace-scope.ts';
import { applyChanges } from '../working-copy/apply-changes.ts';
import { hashFiles, undecidedFiles } from '../working-copy/hash-files.ts';
import { takeTorn } from '../working-copy/interrupted-writes.ts';
import { findNameTwins } from '../working-copy/name-twins.ts';
import { refreshIndex, reportProblems } from '../working-copy/refresh-index.ts';
import { createLeavingOut, leaveOut } from '../working-copy/unheld-entries.ts';
import { findObstacles } from '../working-copy/unscanned-obstacles.ts';
import { addDone, type Only, requireCommonBase, type ScopeRun, withScope } from './scope-run.ts';
import { findOvertaken, stillEntering, withEntering } from './unfinished-widening.ts';
import { namesNothing, warnOfUnmatched, watchUnmatched } from './unmatched-patterns.ts';

/**
 * @returns False if a file could not be fetched; the scope is the old one then
 * @throws `conflict` if something here is in the way; nothing was written then
 */
export async function widenScope(run: ScopeRun, only: Only): Promise<boolean> {
  const { session } = run;
  const remote = run.remote!;
  const { store } = remote;
  const link = await linkRepository(session, store, session.state.branch);
  await settleUnconfirmedPush(session, store, link);
  requireCommonBase(session, link);
  const base = await ensureBase(session, store, link);
  const held = scopeOf(session)!;
  const { commit, hash } = base;
  const widening: Widening = { remote, link, base, held, before: session.state, only };
  try {
    session.state = withScope(session.state, only);
    if (commit && hash) {
      const bring = () => bringIn(run, widening, { commit, hash });
      const failed = await whileKept(store, hash, bring, { signal: session.context.signal, isBase: true });
      if (failed > 0) {
        session.state = widening.before;
        return false;
      }
    }
    session.index.settings.base = baseMark(session, link.uuid, hash);
    const entering = stillEntering(widening.before, session.remoteName, only);
    session.saveState(withScope(knowingOneRemote(session), only, { entering }));
    return true;
  } catch (error) {
    session.state = widening.before;
    throw error;
  }
}

/**
 * What enters comes from this remote. The bases of others may have more or other files there, which would
 * count as deleted or edited here. Without a base the next command that uses such a remote compares the
 * contents.
 */
function knowingOneRemote({ context, remoteName, state }: Session): WorkspaceState {
  const others = Object.keys(state.bases).filter((remote) => remote !== remoteName);
  if (others.length === 0) return state;
  const { [remoteName]: base } = state.bases;
  const { [remoteName]: branch } = state.follows ?? {};
  const names = others.join(', ');
  context.emit({
    type: 'warning',
    warning: 'comparesAnew',
    message: `This workspace holds more now, as ${remoteName} has it. Pull from ${names} before you push there: the files are compared anew.`,
  });
  return {
    ...state,
    bases: base === undefined ? {} : { [remoteName]: base },
    follows: branch === undefined ? {} : { [remoteName]: branch },
  };
}

interface Widening {
  readonly remote: OpenedRemote;
  readonly link: LinkedRepository;
  readonly base: BaseCommit;
  /** The scope until now. */
  readonly held: Scope;
  readonly only: Only;
  /** The state with the scope until now. */
  before: WorkspaceState;
}

interface BaseOfAll {
  readonly commit: Commit;
  readonly hash: CommitHash;
}

/** @returns how many files failed */
async function bringIn(run: ScopeRun, widening: Widening, ofBase: BaseOfAll): Promise<number> {
  const { session } = run;
  const { link, remote } = widening;
  const { commit, hash } = ofBase;
  const problems = reportProblems(session, (await refreshIndex(session)).problems);
  const entered = await enterBase(run, widening, commit);
  const { deletions, givenUp, ...found } = await findWrites(session, widening, entered);
  const leavingOut = createLeavingOut(session, await findNameTwins(session, remote.store, commit));
  const writes = leavingOut.withoutTwins(found.writes);
  noteUnfinished(session, widening, hash);
  const { bytes, failed } = await applyChanges({
    session,
    remote,
    link,
    writing: { commit: hash, words: run.words },
    totals: {
      files: writes.length,
      bytes: writes.reduce((sum, entry) => sum + (entry.kind === 'file' ? entry.sizeBytes : 0), 0),
    },
    deletions,
    writes: [writes],
    givenUp,
    leavingOut,
  });
  const left = leaveOut(session, leavingOut, failed === 0);
  dropRows(session, Object.keys(leavingOut.found));
  addDone(run, {
    fetched: found.writes.length - failed - left,
    downloadedBytes: bytes,
    failed: problems + failed + left,
  });
  return failed;
}

/** Of entries that are left out. */
function dropRows({ index }: Session, paths: readonly string[]): void {
  index.transaction(() => {
    for (const path of paths) {
      index.files.setBase(path, undefined);
      index.files.setAbsent(path);
    }
  });
}

interface Writes {
  readonly writes: readonly Entry[];
  readonly deletions: readonly string[];
  readonly givenUp: ReadonlySet<string>;
}

/** @throws `conflict` if something is in the way */
async function findWrites(session: Session, widening: Widening, entered: readonly Entry[]): Promise<Writes> {
  const { base, before, held, remote } = widening;
  await hashFiles(session, undecidedFiles(session, new Set(entered.map(({ path }) => path))));
  const { changes: mended, torn } = await takeTorn(session, remote.store, { base, target: base.commit }, []);
  const unfinished = before.scope?.entering ?? [];
  const overtaken = await findOvertaken(session, remote.store, { unfinished, base, held });
  const changes = [...mended, ...overtaken.filter(({ path }) => !torn.has(path))];
  const changed = new Set(changes.map(({ path }) => path));
  const others = entered.filter(({ path }) => !changed.has(path));
  const missing = others.filter(({ path }) => !session.index.files.find(path, 0)?.after);
  const deletions = [
    ...changes.flatMap(({ after, path }) => (after ? [] : [path])),
    ...emptyFoldersAt(session, new Set(missing.map(({ path }) => path))),
  ].sort(comparePaths);
  refuseObstacles(
    session,
    [...missing.map((after) => ({ path: after.path, after })), ...deletions.map((path) => ({ path }))],
    others.filter(({ path }) => isOther(session, path)),
  );
  return {
    writes: [...missing, ...changes.flatMap(({ after }) => (after ? [after] : []))],
    deletions,
    givenUp: torn,
  };
}

/** The empty folders here that lie where files will. */
function emptyFoldersAt({ index }: Session, files: ReadonlySet<string>): readonly string[] {
  const found: string[] = [];
  for (const page of index.files.changes(0)) {
    for (const { after, before, path } of page) {
      if (after?.kind !== 'folder' || before) continue;
      for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1))
        if (files.has(path.slice(0, at))) found.push(path);
    }
  }
  return found;
}

/** On the disk before the first file is. */
function noteUnfinished(session: Session, widening: Widening, hash: CommitHash): void {
  const wide = session.state;
  const { before, only } = widening;
  widening.before = withEntering(before, session.remoteName, hash, only);
  session.saveState(widening.before);
  session.state = wide;
}

/** Adds what enters to the base rows, which from here on mirror no commit. */
async function enterBase(
  { chosen, session }: ScopeRun,
  { held, link, remote }: Widening,
  commit: Commit,
): Promise<readonly Entry[]> {
  const { context, index } = session;
  const entered: Entry[] = [];
  const scope = scopeOf(session);
  const unmatched = watchUnmatched(scope?.patterns.filter((pattern) => !held.patterns.includes(pattern)));
  index.settings.base = undefined;
  const options = { scope, signal: context.signal };
  for await (const page of readEntries(remote.store, commit, options)) {
    unmatched.see(page);
    index.transaction(() => {
      for (const entry of page) {
        if (held.holds(entry.path)) continue;
        index.files.setBase(entry.path, entry);
        rememberBlob(link, entry);
        entered.push(entry);
      }
    });
  }
  const nothing = unmatched.left();
  if (chosen?.every((pattern) => nothing.includes(pattern))) throw namesNothing(chosen, 'changed');
  warnOfUnmatched(session, nothing);
  return entered;
}

/** Whether something here differs from the base's entry. An empty folder there may be filled here. */
function isOther({ index }: Session, path: string): boolean {
  const { after, before } = index.files.find(path, 0) ?? {};
  if (!after || !before) return false;
  return after.kind !== before.kind || after.hash !== before.hash || after.executable !== before.executable;
}

/** @throws `conflict` */
function refuseObstacles(
  session: Session,
  changes: readonly Change[],
  different: readonly Pick<Entry, 'path'>[],
): void {
  const [first, ...others] = [...findObstacles(session, changes), ...different];
  if (!first) return;
  const { path } = first;
  const what = others.length === 0 ? path : `${path} and ${others.length} more`;
  throw new DrayError('conflict', `Something here is in the way of ${what}. Nothing was fetched.`, {
    data: { path, paths: [path, ...others.map((other) => other.path)].slice(0, 1000), reason: 'inTheWay' },
    advice: 'Move it away, then run the command again.',
  });
}
