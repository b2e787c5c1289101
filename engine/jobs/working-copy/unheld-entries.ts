/**
 * Entries of a commit that this file system cannot hold: a name that is too long or that it does not allow,
 * a link on a disk without links, a name that is another one's there (`name-twins.ts`), a file or link where
 * a disk is mounted. They are left out by name, like what is outside of a scope: `state.json` names them, the
 * index has no row of them, a push keeps them as the branch has them. A pull looks at them again: it forgets
 * what the branch has no more, and fetches what the disk can hold now.
 */
import { randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { ErrorRecord } from '../../api/error.ts';
import { isMountPoint } from '../../files/disk/mount-point.ts';
import { errnoOf } from '../../files/write/write-error.ts';
import type { Entry } from '../../model/entry.ts';
import { checkEntryPath } from '../../model/safe-path.ts';
import type { WorkspaceState } from '../../workspace/workspace-folder.ts';
import type { Session } from '../session/open-workspace.ts';
import { foldsNames, type NameTwins } from './name-twins.ts';

export type Unheld = NonNullable<WorkspaceState['unheld']>;

/** Collects what a run leaves out. */
export interface LeavingOut {
  readonly found: Record<string, Unheld[string]>;
  /** The entries that are to be written, without those that are another's twin. */
  withoutTwins<T extends Pick<Entry, 'path'>>(entries: readonly T[]): readonly T[];
  readonly twins: NameTwins;
  /** Whether the entry failed for this reason. Then it is left out. */
  takes(entry: Entry, error: ErrorRecord): boolean;
}

const NAMED_MAX = 20;
const OF_NAMES: ReadonlySet<unknown> = new Set(['ENAMETOOLONG', 'EILSEQ', 'EINVAL']);
const OF_LINKS: ReadonlySet<unknown> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EINVAL']);

export function createLeavingOut(session: Session, twins: NameTwins = new Map()): LeavingOut {
  const found: LeavingOut['found'] = {};
  return {
    found,
    twins,
    withoutTwins: (entries) =>
      entries.filter(({ path }) => {
        if (twins.has(path)) found[path] = 'twin';
        return !twins.has(path);
      }),
    takes({ kind, path }, { data: { errno } }) {
      const isSuspect =
        OF_NAMES.has(errno) ||
        (kind === 'link' && OF_LINKS.has(errno)) ||
        isForbiddenByWindows(path) ||
        isMounted(session, path);
      const why = isSuspect ? whyUnheld(session, path, kind === 'link') : undefined;
      if (why) found[path] = why;
      return why !== undefined;
    },
  };
}

/** Tries it in the folder for temporary files. Undefined: the disk can hold it. */
export function whyUnheld(
  { workspace }: Pick<Session, 'workspace'>,
  path: string,
  isLink: boolean,
): Unheld[string] | undefined {
  if (isForbiddenByWindows(path)) return 'name';
  if (isMounted({ workspace }, path)) return 'mount';
  const probe = join(workspace.temporaryFolder, `probe-${randomBytes(6).toString('hex')}`);
  try {
    mkdirSync(probe);
    // The whole path may be too long.
    if (isRefused(OF_NAMES, () => lstatSync(join(workspace.root, path), { throwIfNoEntry: false })))
      return 'name';
    const parts = new Set(path.split('/').filter((part) => part !== ''));
    for (const part of parts) if (isRefused(OF_NAMES, () => mkdirSync(join(probe, part)))) return 'name';
    if (isLink && isRefused(OF_LINKS, () => symlinkSync('x', join(probe, '.link')))) return 'link';
    return undefined;
  } finally {
    rmSync(probe, { recursive: true, force: true });
  }
}

function isMounted({ workspace }: Pick<Session, 'workspace'>, path: string): boolean {
  return !path.endsWith('/') && isMountPoint(join(workspace.root, path));
}

/** Device names such as `con`, `a:b`, and a dot or space at the end. Elsewhere the path may be written. */
export function isForbiddenByWindows(path: string, platform: string = process.platform): boolean {
  if (platform !== 'win32' || checkEntryPath(path, { platform }) === undefined) return false;
  return checkEntryPath(path, { platform: 'linux' }) === undefined;
}

function isRefused(errnos: ReadonlySet<unknown>, work: () => unknown): boolean {
  try {
    work();
    return false;
  } catch (error) {
    return errnos.has(errnoOf(error));
  }
}

/** Whether the disk can hold something now that was left out. */
export function canHoldMore(session: Session): boolean {
  const { unheld = {} } = session.state;
  const isFolding = Object.values(unheld).includes('twin') && foldsNames(session);
  return Object.entries(unheld).some(([path, why]) => {
    if (why === 'twin' && isFolding) return false;
    return whyUnheld(session, path, why === 'link') === undefined;
  });
}

/** The state with these entries left out, and no others. */
export function withUnheld(state: WorkspaceState, unheld: Unheld): WorkspaceState {
  const { unheld: _, ...rest } = state;
  return Object.keys(unheld).length === 0 ? rest : { ...rest, unheld };
}

/**
 * Names what was left out. If all else has arrived, the session's state has it, until it is saved with the
 * base.
 * @returns How many there are
 */
export function leaveOut(session: Session, { found, twins }: LeavingOut, isComplete: boolean): number {
  const paths = Object.keys(found);
  const [path] = paths;
  if (path === undefined) return 0;
  if (isComplete) session.state = withUnheld(session.state, { ...session.state.unheld, ...found });
  const nameOf = (one: string) => {
    const twin = twins.get(one);
    return twin === undefined ? one : `${one} beside ${twin}`;
  };
  const named = paths.slice(0, NAMED_MAX).map(nameOf).join(', ');
  const more = paths.length > NAMED_MAX ? ` and ${paths.length - NAMED_MAX} more` : '';
  const message = `This file system cannot hold ${named}${more}: left out here, and kept on the branch.`;
  session.context.emit({ type: 'warning', warning: 'notHeld', path, message });
  return paths.length;
}
