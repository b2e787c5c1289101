/** Patterns that name nothing in a commit, which may be misspelled. */
import { advised, DrayError } from '../../api/error.ts';
import type { Entry } from '../../model/entry.ts';
import { compileScope, type Scope } from '../../model/scope.ts';
import type { Session } from '../session/open-workspace.ts';

/** More are not looked for: each one is compared with each path until it matches. */
const WATCHED_MAX = 100;

export interface UnmatchedPatterns {
  see(entries: readonly Pick<Entry, 'path'>[]): void;
  /** Those that nothing has matched. */
  left(): readonly string[];
}

export function watchUnmatched(patterns: readonly string[] = []): UnmatchedPatterns {
  const left = new Map<string, Scope>();
  if (patterns.length <= WATCHED_MAX)
    for (const pattern of patterns) left.set(pattern, compileScope([pattern]));
  return {
    see: (entries) => {
      // The ignore files above a part belong to it, and say nothing about what it names.
      for (const [pattern, scope] of left)
        if (entries.some(({ path }) => scope.names(path))) left.delete(pattern);
    },
    left: () => [...left.keys()],
  };
}

export function warnOfUnmatched({ context }: Session, patterns: readonly string[]): void {
  for (const pattern of patterns)
    context.emit({
      type: 'warning',
      warning: 'namesNothing',
      path: pattern,
      ...advised(`"${pattern}" names nothing in the commit.`, adviceOn(pattern)),
    });
}

/**
 * Of a part of which no pattern names anything: it is misspelled, or not there yet.
 * @param done What did not happen: `cloned`.
 */
export function namesNothing(patterns: readonly string[], done: string): DrayError {
  const [first = ''] = patterns;
  const others = patterns.length > 1 ? ` and ${patterns.length - 1} others name` : ' names';
  return new DrayError('notFound', `"${first}"${others} nothing in the commit, so nothing was ${done}.`, {
    data: { patterns: patterns.slice(0, WATCHED_MAX) },
    advice: adviceOn(first),
  });
}

function adviceOn(pattern: string): string {
  if (pattern.startsWith('!')) return 'A part has no exclusions: name what the workspace is to hold.';
  return '"dray ls" shows what it has.';
}
