/** One commit: its message, its changes and its contents. */
import { useState } from 'react';
import type { CommitEvent } from '../../../engine/api/events.ts';
import type { RefRow } from '../../../engine/api/host/history.ts';
import { formatBytes, formatHash, formatPlural } from '../../../engine/api/text/numbers.ts';
import { Badge } from '../../design/badge.tsx';
import { IconButton } from '../../design/controls/button.tsx';
import { Tabs } from '../../design/controls/choices.tsx';
import { formatMoment } from '../../design/format.ts';
import { Menu } from '../../design/overlays/menu.tsx';
import { EmptyState } from '../../design/states.tsx';
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
  const [tab, setTab] = useState<Tab>('changes');
  const newer = commits.find(({ commit }) => commit === selected);
  if (!newer) return null;
  return (
    <section className="commit-panel" aria-label="Commit">
      <header className="commit-head">
        <div className="row">
          <h2 className="grow" title={subjectOf(newer)}>
            {subjectOf(newer)}
          </h2>
          <Menu label="Of this commit" actions={actionsOfCommit(newer, refs, menu)}>
            <IconButton icon="more" label="More of this commit" size="small" />
          </Menu>
        </div>
        {bodyOf(newer) !== '' && (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard
          <section className="commit-body soft" tabIndex={0} aria-label="Rest of the message">
            {bodyOf(newer)}
          </section>
        )}
        <div className="row small soft commit-facts">
          <RefBadges refs={refs} commit={newer.commit} />
          {newer.isForgotten && <Badge>Forgotten</Badge>}
          <span className="cut" title={newer.author}>
            {authorName(newer.author)}
          </span>
          <time dateTime={newer.time}>{formatMoment(newer.time)}</time>
          <span>
            {newer.isForgotten && 'held '}
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
      {newer.isForgotten ? (
        <Forgotten />
      ) : (
        <CommitTabs
          key={newer.commit}
          root={root}
          commit={newer}
          commits={commits}
          refs={refs}
          tab={tab}
          onTab={setTab}
        />
      )}
    </section>
  );
}

/** Instead of its changes and contents, which need files that a collection may have removed. */
function Forgotten() {
  return (
    <EmptyState icon="history" title="Its files are not kept">
      A retention policy has forgotten this commit. Its author, time and message stay. Nothing can be restored
      from it, compared with it or shown of it.
    </EmptyState>
  );
}

type Tab = 'changes' | 'contents';

interface CommitTabsProps extends Pick<CommitPanelProps, 'root' | 'commits' | 'refs'> {
  readonly commit: CommitEvent;
  readonly tab: Tab;
  readonly onTab: (tab: Tab) => void;
}

function CommitTabs({ root, commit, commits, refs, tab, onTab }: CommitTabsProps) {
  return (
    <Tabs
      label="Of this commit"
      value={tab}
      onChange={onTab}
      tabs={[
        {
          id: 'changes',
          label: 'Changes',
          content: <ChangesTab root={root} commit={commit} commits={commits} refs={refs} />,
        },
        {
          id: 'contents',
          label: 'Contents',
          content: <ContentsView root={root} commit={commit.commit} />,
        },
      ]}
    />
  );
}

/** The choice to compare a first commit with: all its files are new. */
const NOTHING = 'nothing';

function ChangesTab({ root, commit, commits, refs }: Omit<CommitTabsProps, 'tab' | 'onTab'>) {
  const forgotten = new Set(commits.flatMap((one) => (one.isForgotten ? [one.commit] : [])));
  const kept = commit.parents.filter((id) => !forgotten.has(id));
  const [against, setAgainst] = useState(kept[0] ?? NOTHING);
  const nameOf = (id: string): string => {
    const known = commits.find((other) => other.commit === id);
    return `${formatHash(id)} ${known ? subjectOf(known) : ''}`;
  };
  const parents = kept.map((id) => ({
    id,
    label: id === commit.parents[0] ? 'Compared with the previous commit' : 'Compared with the merged commit',
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
  const isFirst = commit.parents.length === 0;
  const all = {
    id: NOTHING,
    label: isFirst ? 'All files of this first commit' : 'All files: the commit before is forgotten',
  };
  const choices = [
    ...(kept.length === 0 ? [all] : []),
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
