import type { Session } from './session.ts';

/** The user's own bound on requests in flight (`--transfers`, or the workspace's setting); undefined: adaptive. */
export function fixedTransfers(session: Pick<Session, 'config' | 'context'>): number | undefined {
  if (session.context.connection.transfers !== undefined) return session.context.connection.transfers;
  const setting = Number(session.config.settings['transfers']);
  return Number.isInteger(setting) && setting > 0 ? setting : undefined;
}
