import './badge.css';
import type { ReactNode } from 'react';
import type { ChangeKind } from '../../engine/api/events.ts';

export type BadgeTone = 'neutral' | 'accent' | 'added' | 'modified' | 'deleted' | 'renamed' | 'conflict';

export function Badge({
  tone = 'neutral',
  children,
}: {
  readonly tone?: BadgeTone;
  readonly children: ReactNode;
}) {
  return <span className={`badge badge-${tone}`}>{children}</span>;
}

const CHANGES: Readonly<
  Record<
    ChangeKind | 'conflict',
    { readonly tone: BadgeTone; readonly word: string; readonly letter: string }
  >
> = {
  added: { tone: 'added', word: 'Added', letter: 'A' },
  modified: { tone: 'modified', word: 'Changed', letter: 'C' },
  deleted: { tone: 'deleted', word: 'Deleted', letter: 'D' },
  renamed: { tone: 'renamed', word: 'Renamed', letter: 'R' },
  mode: { tone: 'neutral', word: 'Mode', letter: 'M' },
  time: { tone: 'neutral', word: 'Time', letter: 'T' },
  conflict: { tone: 'conflict', word: 'Conflict', letter: '!' },
};

export function changeWord(change: ChangeKind | 'conflict'): string {
  return CHANGES[change].word;
}

/** How a path changed: as a word, and as a colour. */
export function ChangeBadge({ change }: { readonly change: ChangeKind | 'conflict' }) {
  const { tone, word } = CHANGES[change];
  return <Badge tone={tone}>{word}</Badge>;
}

/** The same in one letter, for dense rows. */
export function ChangeMark({ change }: { readonly change: ChangeKind | 'conflict' }) {
  const { tone, word, letter } = CHANGES[change];
  return (
    <span className={`change-mark badge-${tone}`} title={word}>
      <span aria-hidden="true">{letter}</span>
      <span className="unseen">{word}</span>
    </span>
  );
}
