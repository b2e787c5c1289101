import { hostname, userInfo } from 'node:os';
import type { JobContext } from '../../api/jobs/jobs.ts';
import type { Session } from '../session/open-workspace.ts';

/** The author of a commit: the workspace's `author` setting, `DRAY_AUTHOR`, or user@host. */
export function authorOf(session: Pick<Session, 'config' | 'context'>): string {
  return session.config.settings.author || userAuthor(session.context);
}

/** The author of a commit that is made without a workspace. */
export function userAuthor({ environment }: Pick<JobContext, 'environment'>): string {
  return environment.DRAY_AUTHOR || `${userName()}@${hostname()}`;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run as a user id without a name.
    return 'unknown';
  }
}
