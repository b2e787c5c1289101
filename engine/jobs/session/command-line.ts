import type { Session } from './open-workspace.ts';

/** A command line for advice. @param words What follows `dray`. */
export function commandLine(
  { config, remoteName }: Pick<Session, 'config' | 'remoteName'>,
  words: string,
): string {
  return `dray ${words}${remoteName === config.defaultRemote ? '' : ` --remote ${remoteName}`}`;
}
