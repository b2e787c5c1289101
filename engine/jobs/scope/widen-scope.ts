/**
 * Fetches what enters the workspace's scope. The files come first and the state file last: until then they
 * are files outside of the scope, which no command touches. A file that is already at its path and equals the
 * base stays. Another one stops the command: nobody knows on which commit it is based, so a push of it could
 * undo what others did.
 */
import { DrayError } from '../../api/error.ts';
import type { Change } from '../../model/diff.ts';
import type { CommitHash, Entry } from '../../model/entry.ts';
import type { Scope } from '../../model/scope.ts';
import type { Commit } from '../../repository/commit.ts';
import { readEntries } from '../../repository/manifest/read-entries.ts';
import { settleUnconfirmedPush } from '../push/unconfirmed-push.ts';
import { whileKept } from '../retention/forgotten.ts';
import { type BaseCommit, baseMark, ensureBase, rememberBlob } from '../session/base-commit.ts';
import { type LinkedRepository, linkRepository } from '../session/link-repository.ts';
import type { Session } from '../session/open-workspace.ts';
import type { OpenedRemote } from '../session/opened-remote.ts';
import { scopeOf } from '../session/workspace-scope.ts';
import { applyChanges } from '../working-copy/apply-changes.ts';
import { hashFiles, undecidedFiles } from '../working-copy/hash-files.ts';
import { takeTorn } from '../working-copy/interrupted-writes.ts';
import { checkNamesFit } from '../working-copy/names-fit.ts';
import { refreshIndex, reportProblems } from '../working-copy/refresh-index.ts';
import { findObstacles } from '../working-copy/unscanned-obstacles.ts';
import { type Only, type ScopeRun, withScope } from './scope-run.ts';

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
  const base = await ensureBase(session, store, link);
  const before = session.state;
  const held = scopeOf(session)!;
  const { commit, hash } = base;
  try {
    session.state = withScope(before, only);
    if (commit && hash) {
      const bring = () => bringIn(run, { remote, link, base, commit, hash, held });
      const failed = await whileKept(store, hash, bring, { signal: session.context.signal, isBase: true });
      if (failed > 0) {
        session.state = before;
        return false;
      }
    }
    session.index.settings.base = baseMark(session, link.uuid, hash);
    session.saveState(session.state);
    return true;
  } catch (error) {
    session.state = before;
    throw error;
  }
}

interface Widening {
  readonly remote: OpenedRemote;
  readonly link: LinkedRepository;
  readonly base: BaseCommit;
  readonly commit: Commit;
  readonly hash: CommitHash;
  /** The scope until now. */
  readonly held: Scope;
}

/** @returns how many files failed */
async function bringIn(run: ScopeRun, widening: Widening): Promise<number> {
  const { session } = run;
  const { base, commit, hash, link, remote } = widening;
  const problems = reportProblems(session, (await refreshIndex(session)).problems);
  const entered = await enterBase(session, widening);
  await hashFiles(session, undecidedFiles(session, new Set(entered.map(({ path }) => path))));
  const { changes, torn } = await takeTorn(session, remote.store, base, []);
  const missing = entered.filter(({ path }) => !torn.has(path) && !session.index.files.find(path, 0)?.after);
  refuseObstacles(
    session,
    missing,
    entered.filter(({ path }) => !torn.has(path) && isOther(session, path)),
  );
  await checkNamesFit(session, remote.store, commit);
  const writes = [...missing, ...changes.flatMap(({ after }) => (after ? [after] : []))];
  const { bytes, failed } = await applyChanges({
    session,
    remote,
    link,
    writing: { commit: hash, words: run.words },
    totals: {
      files: writes.length,
      bytes: writes.reduce((sum, entry) => sum + (entry.kind === 'file' ? entry.sizeBytes : 0), 0),
    },
    deletions: changes.filter(({ after }) => !after).map(({ path }) => path),
    writes: [writes],
    givenUp: torn,
  });
  const { done } = run;
  run.done = {
    ...done,
    fetched: done.fetched + writes.length - failed,
    downloadedBytes: done.downloadedBytes + bytes,
    failed: done.failed + problems + failed,
  };
  return failed;
}

/** Adds what enters to the base rows, which from here on mirror no commit. */
async function enterBase(
  session: Session,
  { commit, held, link, remote }: Widening,
): Promise<readonly Entry[]> {
  const { context, index } = session;
  const entered: Entry[] = [];
  index.settings.base = undefined;
  const options = { scope: scopeOf(session), signal: context.signal };
  for await (const page of readEntries(remote.store, commit, options)) {
    index.transaction(() => {
      for (const entry of page) {
        if (held.holds(entry.path)) continue;
        index.files.setBase(entry.path, entry);
        rememberBlob(link, entry);
        entered.push(entry);
      }
    });
  }
  return entered;
}

/** Whether something here differs from the base's entry. An empty folder there may be filled here. */
function isOther({ index }: Session, path: string): boolean {
  const { after, before } = index.files.find(path, 0) ?? {};
  if (!after || !before) return false;
  return after.kind !== before.kind || after.hash !== before.hash || after.executable !== before.executable;
}

/** @throws `conflict` */
function refuseObstacles(session: Session, missing: readonly Entry[], different: readonly Entry[]): void {
  const changes = missing.map((after): Change => ({ path: after.path, after }));
  const [first, ...others] = [...findObstacles(session, changes), ...different];
  if (!first) return;
  const { path } = first;
  const what = others.length === 0 ? path : `${path} and ${others.length} more`;
  throw new DrayError('conflict', `Something here is in the way of ${what}. Nothing was fetched.`, {
    data: { path, paths: [path, ...others.map((other) => other.path)].slice(0, 1000), reason: 'inTheWay' },
    advice: 'Move it away, then run the command again.',
  });
}
