/** One commit: its message, its changes and its contents. */
import { useState } from 'react';
import type { CommitEvent } from '../../../engine/api/events.ts';
import type { RefRow } from '../../../engine/api/host/history.ts';
import { formatBytes, formatHash, formatPlural } from '../../../engine/api/numbers.ts';
import { IconButton } from '../../design/controls/button.tsx';
import { Tabs } from '../../design/controls/choices.tsx';
import { formatMoment } from '../../design/format.ts';
import { Menu } from '../../design/overlays/menu.tsx';
import { copyText } from '../../shell/copy-text.ts';
import { actionsOfCommit, type RefMenu } from '../refs/ref-task.ts';
import { RefBadges } from './commit-list.tsx';
import { authorName, bodyOf, subjectOf } from './commit-words.ts';
import { CompareView } from './compare-view.tsx';
import { ContentsView } from './contents-view.tsx';

export interface CommitPanelProps {
  readonly root: string;
  readonly commits: readonly CommitEvent[];
  readonly refs: readonly RefRow[];
  readonly selected: string | undefined;
  readonly menu: RefMenu;
}

export function CommitPanel({ root, commits, refs, selected, menu }: CommitPanelProps) {
  const [tab, setTab] = useState<'changes' | 'contents'>('changes');
  const newer = commits.find(({ commit }) => commit === selected);
  if (!newer) return null;
  return (
    <section className="commit-panel" aria-label="Commit">
      <header className="commit-head">
        <div className="row">
          <h2 className="grow">{subjectOf(newer)}</h2>
          <Menu label="Of this commit" actions={actionsOfCommit(newer.commit, refs, menu)}>
            <IconButton icon="more" label="More of this commit" size="small" />
          </Menu>
        </div>
        {bodyOf(newer) !== '' && <p className="commit-body soft">{bodyOf(newer)}</p>}
        <div className="row small soft commit-facts">
          <RefBadges refs={refs} commit={newer.commit} />
          <span>{authorName(newer.author)}</span>
          <time dateTime={newer.time}>{formatMoment(newer.time)}</time>
          <span>
            {formatPlural(newer.files, 'file')}, {formatBytes(newer.bytes)}
          </span>
          <span className="row commit-id">
            <span className="code">{formatHash(newer.commit)}</span>
            <IconButton
              icon="copy"
              size="small"
              label="Copy the whole hash"
              onPress={() => void copyText(newer.commit, 'the hash')}
            />
          </span>
        </div>
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

/** The choice to compare a first commit with: all its files are new. */
const NOTHING = 'nothing';

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
  const [against, setAgainst] = useState(commit.parents[0] ?? NOTHING);
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
  const first = { id: NOTHING, label: 'All files of this first commit' };
  const choices = [
    ...(commit.parents.length === 0 ? [first] : []),
    ...[
      ...new Map([...named.toReversed(), ...parents.toReversed()].map((one) => [one.id, one])).values(),
    ].toReversed(),
  ];
  return (
    <CompareView
      root={root}
      from={against === NOTHING ? undefined : against}
      to={commit.commit}
      choices={choices}
      onFrom={setAgainst}
    />
  );
}
