import { describe, expect, it } from 'vitest';
import type { RetentionPolicy } from '../api/jobs/jobs.ts';
import type { CommitHash } from './entry.ts';
import { type KnownCommit, type NamedCommit, planRetention } from './retention-plan.ts';

const NOW_MS = Date.parse('2026-03-01T00:00:00Z');

interface Given {
  /** Each commit with its parents, such as `c: a b`; the first is a day older than the second. */
  readonly history: readonly string[];
  /** Such as `main c` or `tag: v1 a`. */
  readonly refs: readonly string[];
  readonly removed?: readonly string[];
  readonly policy: RetentionPolicy;
  readonly forgotten?: readonly string[];
}

function refOf(text: string): NamedCommit {
  const [, tag, name, commit] = /^(tag: )?(\S+) (\S+)$/.exec(text)!;
  return { kind: tag ? 'tag' : 'branch', name: name!, commit: commit as CommitHash };
}

/** Such as `c: last main, ref main`; a commit that goes is `a:`. */
function planOf({ forgotten = [], history, policy, refs, removed = [] }: Given): string[] {
  const commits = new Map<CommitHash, KnownCommit>();
  for (const [at, line] of history.entries()) {
    const [hash, parents = ''] = line.split(':');
    commits.set(hash as CommitHash, {
      parents: parents.split(' ').filter(Boolean) as CommitHash[],
      timeMs: Date.parse('2026-01-01T12:00:00Z') + at * 86_400_000,
    });
  }
  const plan = planRetention({
    commits,
    refs: refs.map(refOf),
    removed: removed.map(refOf),
    policy,
    forgotten: new Set(forgotten as CommitHash[]),
    nowMs: NOW_MS,
  });
  return [...plan].map(([hash, reasons]) =>
    `${hash}: ${reasons.map(({ ref, rule }) => `${rule} ${ref}`).join(', ')}`.trim(),
  );
}

const LINE = ['a:', 'b: a', 'c: b', 'd: c'];

describe('the plan of what stays', () => {
  it.each<[string, Given, readonly string[]]>([
    [
      'applies the policy to a branch, and keeps what a ref names',
      { history: LINE, refs: ['main d', 'tag: v1 a'], policy: { keepLast: 2 } },
      ['d: ref main, last main', 'c: last main', 'b:', 'a: ref tag: v1'],
    ],
    [
      'keeps what any branch keeps',
      { history: [...LINE, 'e: b', 'f: e'], refs: ['main d', 'side f'], policy: { keepLast: 2 } },
      ['f: ref side, last side', 'e: last side', 'd: ref main, last main', 'c: last main', 'b:', 'a:'],
    ],
    [
      'follows both parents of a merge, by time',
      { history: ['a:', 'b: a', 'c: a', 'd: b c'], refs: ['main d'], policy: { keepLast: 3 } },
      ['d: ref main, last main', 'c: last main', 'b: last main', 'a:'],
    ],
    [
      'keeps a tip even if the policy does not',
      { history: ['a:', 'b: a'], refs: ['main b'], policy: { keepTags: ['v*'] } },
      ['b: ref main', 'a:'],
    ],
    [
      'says nothing about what only a tag leads to',
      {
        history: ['a:', 'b: a', 'c: b', 'x: a', 'y: x'],
        refs: ['main c', 'tag: v1 y'],
        policy: { keepLast: 1 },
      },
      ['c: ref main, last main', 'b:', 'a:'],
    ],
    [
      'lets the commits of a removed tag go, but not those that another tag leads to',
      {
        history: ['a:', 'b: a', 'x: a', 'y: x', 'z: y'],
        refs: ['main b', 'tag: v1 x'],
        removed: ['tag: v2 z'],
        policy: { keepLast: 9 },
      },
      ['z:', 'y:', 'b: ref main, last main', 'a: last main'],
    ],
    [
      'decides by the policy about the commit of a removed tag that lies on a branch',
      { history: LINE, refs: ['main d'], removed: ['tag: v1 b', 'tag: v2 c'], policy: { keepLast: 2 } },
      ['d: ref main, last main', 'c: last main', 'b:', 'a:'],
    ],
    [
      'does not count what was forgotten before, and does not list it',
      { history: LINE, refs: ['main d'], policy: { keepLast: 2 }, forgotten: ['c', 'a'] },
      ['d: ref main, last main', 'b: last main'],
    ],
    [
      'takes a forgotten commit that a ref names for one that stays',
      { history: LINE, refs: ['main d', 'tag: back c'], policy: { keepLast: 2 }, forgotten: ['c', 'b', 'a'] },
      ['d: ref main, last main', 'c: ref tag: back, last main'],
    ],
    [
      'leaves a forgotten commit forgotten when its tag goes',
      {
        history: LINE,
        refs: ['main d'],
        removed: ['tag: back c'],
        policy: { keepLast: 9 },
        forgotten: ['c'],
      },
      ['d: ref main, last main', 'b: last main', 'a: last main'],
    ],
    [
      'gives the policy the tags of a commit',
      { history: LINE, refs: ['main d', 'tag: v1 b', 'tag: x a'], policy: { keepTags: ['v*'] } },
      ['d: ref main', 'c:', 'b: ref tag: v1, tag main', 'a: ref tag: x'],
    ],
  ])('%s', (_, given, expected) => {
    expect(planOf(given)).toEqual(expected);
  });
});
