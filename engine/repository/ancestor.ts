/** `REF~N`, git's name for the N-th commit before REF. A merge continues at its first parent. */
import { DrayError } from '../api/error.ts';
import type { CommitHash } from '../model/entry.ts';
import type { Commit } from './commit.ts';

/** Each step back costs a request. */
const STEPS_MAX = 10_000;
/** `~` is `~1`, and `~1~2` is `~3`. No branch or tag has a `~` in its name. */
const ANCESTOR = /^([^~]+)((?:~\d*)+)$/s;

export interface AncestorName {
  /** The name before the first `~`. */
  readonly name: string;
  /** 0 if the text names no ancestor. */
  readonly steps: number;
}

/** @throws `usage` if that is too far back */
export function splitAncestor(text: string): AncestorName {
  const [, name, suffix] = ANCESTOR.exec(text) ?? [];
  if (name === undefined || suffix === undefined) return { name: text, steps: 0 };
  const counts = suffix.slice(1).split('~');
  const steps = counts.reduce((sum, count) => sum + (count === '' ? 1 : Number(count)), 0);
  if (steps <= STEPS_MAX) return { name, steps };
  throw new DrayError('usage', `${text} is more than ${STEPS_MAX.toLocaleString('en-US')} commits back.`, {
    data: { ref: text, most: STEPS_MAX },
    advice: '"dray log" shows the hash of each commit. Use that.',
    command: 'dray log',
  });
}

/** @throws `notFound` if the history has fewer commits */
export async function walkBack(
  start: CommitHash,
  { name, steps }: AncestorName,
  read: (hash: CommitHash) => Promise<Pick<Commit, 'parents'>>,
): Promise<CommitHash> {
  let hash = start;
  for (let step = 0; step < steps; step += 1) {
    const [parent] = (await read(hash)).parents;
    if (parent === undefined) {
      const before = step === 1 ? '1 commit' : `${step} commits`;
      throw new DrayError('notFound', `There is no ${name}~${steps}: before ${name} there are ${before}.`, {
        data: { ref: `${name}~${steps}`, commits: step },
      });
    }
    hash = parent;
  }
  return hash;
}
