/** One commit: its message, its changes and its contents. For two commits, their difference. */
import { useState } from 'react';
import type { CommitEvent } from '../../../engine/api/events.ts';
import type { RefRow } from '../../../engine/api/host/history.ts';
import { formatBytes, formatHash, formatPlural } from '../../../engine/api/numbers.ts';
import { Tabs } from '../../design/choices.tsx';
import { formatMoment } from '../../design/format.ts';
import { RefBadges } from './commit-list.tsx';
import { authorName, bodyOf, subjectOf } from './commit-words.ts';
import { CompareView } from './compare-view.tsx';
import { ContentsView } from './contents-view.tsx';

export interface CommitPanelProps {
  readonly root: string;
  readonly commits: readonly CommitEvent[];
  readonly refs: readonly RefRow[];
  /** One, or two with the newer one first. */
  readonly selected: readonly string[];
}

export function CommitPanel({ root, commits, refs, selected }: CommitPanelProps) {
  const [tab, setTab] = useState<'changes' | 'contents'>('changes');
  const [newer, older] = selected.map((id) => commits.find(({ commit }) => commit === id));
  if (!newer) return null;
  if (older) {
    return (
      <section className="commit-panel" aria-label="Comparison">
        <h2>
          From {formatHash(older.commit)} to {formatHash(newer.commit)}
        </h2>
        <ol className="commit-ends">
          {[older, newer].map((commit) => (
            <li key={commit.commit}>
              <span className="code">{formatHash(commit.commit)}</span>
              <span className="cut">{subjectOf(commit)}</span>
            </li>
          ))}
        </ol>
        <CompareView root={root} from={older.commit} to={newer.commit} />
      </section>
    );
  }
  return (
    <section className="commit-panel" aria-label="Commit">
      <header className="commit-head">
        <h2>{subjectOf(newer)}</h2>
        {bodyOf(newer) !== '' && <p className="commit-body soft">{bodyOf(newer)}</p>}
        <div className="row small soft commit-facts">
          <RefBadges refs={refs} commit={newer.commit} />
          <span>{authorName(newer.author)}</span>
          <time dateTime={newer.time}>{formatMoment(newer.time)}</time>
          <span>
            {formatPlural(newer.files, 'file')}, {formatBytes(newer.bytes)}
          </span>
        </div>
        <code className="commit-id small faint cut" title={newer.commit}>
          {newer.commit}
        </code>
      </header>
      <Tabs
        label="Of this commit"
        value={tab}
        onChange={setTab}
        tabs={[
          {
            id: 'changes',
            label: 'Changes',
            content: (
              <ChangesTab key={newer.commit} root={root} commit={newer} commits={commits} refs={refs} />
            ),
          },
          {
            id: 'contents',
            label: 'Contents',
            content: <ContentsView key={newer.commit} root={root} commit={newer.commit} />,
          },
        ]}
      />
    </section>
  );
}

function ChangesTab({
  root,
  commit,
  commits,
  refs,
}: {
  readonly root: string;
  readonly commit: CommitEvent;
  readonly commits: readonly CommitEvent[];
  readonly refs: readonly RefRow[];
}) {
  const [against, setAgainst] = useState(commit.parents[0] ?? '');
  if (commit.parents.length === 0 && against === '') {
    return (
      <p className="soft">
        This is the first commit, so all its files are new. They are listed under Contents.
      </p>
    );
  }
  const nameOf = (id: string): string => {
    const known = commits.find((other) => other.commit === id);
    return `${formatHash(id)} ${known ? subjectOf(known) : ''}`;
  };
  const parents = commit.parents.map((id, index) => ({
    id,
    label: index === 0 ? 'Compared with the previous commit' : 'Compared with the merged commit',
    note: nameOf(id),
  }));
  const named = refs
    .filter((ref) => ref.commit !== commit.commit && !commit.parents.includes(ref.commit))
    .map((ref) => ({
      id: ref.commit,
      label: `Compared with ${ref.kind} ${ref.name}`,
      note: nameOf(ref.commit),
    }));
  // Two names of one commit are one choice.
  const choices = [
    ...new Map([...named.toReversed(), ...parents.toReversed()].map((one) => [one.id, one])).values(),
  ];
  return (
    <CompareView
      root={root}
      from={against}
      to={commit.commit}
      choices={choices.toReversed()}
      onFrom={setAgainst}
    />
  );
}
