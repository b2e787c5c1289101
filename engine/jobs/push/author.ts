import { hostname, userInfo } from 'node:os';
import type { Session } from '../session/open-workspace.ts';

/** The author of a commit: the workspace's `author` setting, `DRAY_AUTHOR`, or user@host. */
export function authorOf(session: Pick<Session, 'config' | 'context'>): string {
  const chosen = session.config.settings.author ?? session.context.environment.DRAY_AUTHOR;
  if (chosen) return chosen;
  return `${userName()}@${hostname()}`;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run as a user id without a name.
    return 'unknown';
  }
}
