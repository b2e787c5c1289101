/**
 * What an import left out of a commit. The commit's message says so in a paragraph of its own, from which a
 * later import names it again.
 */
import type { JobContext } from '../../api/jobs/jobs.ts';
import type { CommitHash } from '../../model/entry.ts';
import type { ImportProblem } from './import-problem.ts';

export interface LeftOutFiles {
  readonly paths: readonly string[];
  /** How many more there are, which the message does not name. */
  readonly more: number;
}

const NAMED_MAX = 20;
const NOTE = /^Left out, because [^:]*: (?<named>".*")(?:, and (?<more>\d+) more)?\.$/;

/** @param because Completes the sentence; without a colon. */
export function noteOfLeftOut(leftOut: readonly string[], because: string): string | undefined {
  if (leftOut.length === 0) return undefined;
  const named = leftOut.slice(0, NAMED_MAX).map((path) => JSON.stringify(path));
  const more = leftOut.length > NAMED_MAX ? `, and ${leftOut.length - NAMED_MAX} more` : '';
  return `Left out, ${because}: ${named.join(', ')}${more}.`;
}

/** @param message Of a commit that an import made: the note is the last paragraph but one. */
export function leftOutOf(message: string): LeftOutFiles | undefined {
  const note = message.split('\n\n').at(-2) ?? '';
  const { more = '0', named } = NOTE.exec(note)?.groups ?? {};
  if (named === undefined) return undefined;
  try {
    return { paths: JSON.parse(`[${named}]`), more: Number(more) };
  } catch {
    // The message of another tool only looks like a note.
    return undefined;
  }
}

export interface EarlierLeftOut {
  readonly problems: readonly ImportProblem[];
  /** At least so many files are concerned. */
  readonly count: number;
}

/**
 * What is missing from commits of earlier imports, each path once. Warns of files that no message names.
 * @param now Those of this import, whose paths are left out.
 */
export function earlierLeftOut(
  { emit }: JobContext,
  commits: Iterable<{ readonly hash: CommitHash; readonly leftOut?: LeftOutFiles | undefined }>,
  now: Iterable<ImportProblem>,
): EarlierLeftOut {
  const named = new Set(Array.from(now, ({ path }) => path));
  const problems: ImportProblem[] = [];
  let unnamed = 0;
  for (const { hash, leftOut } of commits) {
    if (!leftOut) continue;
    const commit = `the commit ${hash.slice(0, 10)}`;
    for (const path of leftOut.paths) {
      const message = `${path} is not in ${commit}: an earlier import left it out.`;
      if (!named.has(path)) problems.push({ path, code: 'notFound', message });
      named.add(path);
    }
    if (leftOut.more === 0) continue;
    unnamed = Math.max(unnamed, leftOut.more);
    const message = `An earlier import left ${leftOut.more} more files out of ${commit}, which its message does not name.`;
    emit({ type: 'warning', warning: 'leftOutBefore', message });
  }
  return { problems, count: problems.length + unnamed };
}
