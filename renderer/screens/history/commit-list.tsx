/** The list of commits with their graph. A click selects one, Ctrl or Shift a second one. */
import { useMemo } from 'react';
import { GridList, GridListItem } from 'react-aria-components/GridList';
import { ListLayout, Virtualizer } from 'react-aria-components/Virtualizer';
import type { CommitEvent } from '../../../engine/api/events.ts';
import type { RefRow } from '../../../engine/api/host/history.ts';
import { formatHash } from '../../../engine/api/numbers.ts';
import { formatAgo, formatMoment } from '../../design/format.ts';
import { Icon } from '../../design/icon.tsx';
import { authorName, subjectOf } from './commit-words.ts';
import { GraphCell, graphWidth, ROW_PX } from './graph-cell.tsx';
import type { GraphRow } from './graph-lanes.ts';

export interface CommitListProps {
  readonly commits: readonly CommitEvent[];
  /** One row per commit. */
  readonly graph: readonly GraphRow[];
  readonly refs: readonly RefRow[];
  readonly selected: readonly string[];
  /** At most two, in the order of the list. */
  readonly onSelect: (commits: readonly string[]) => void;
}

export function CommitList({ commits, graph, refs, selected, onSelect }: CommitListProps) {
  const lanes = useMemo(() => Math.max(1, ...graph.map(({ width }) => width)), [graph]);
  const layoutOptions = useMemo(() => ({ rowHeight: ROW_PX }), []);
  const items = useMemo(
    () => commits.map((commit, index) => ({ id: commit.commit, commit, row: graph[index]! })),
    [commits, graph],
  );
  return (
    <Virtualizer layout={ListLayout} layoutOptions={layoutOptions}>
      <GridList
        className="commit-list"
        aria-label="Commits"
        items={items}
        dependencies={[lanes, refs]}
        selectionMode="multiple"
        selectionBehavior="replace"
        disallowEmptySelection
        selectedKeys={selected}
        onSelectionChange={(keys) => {
          const chosen = commits
            .filter(({ commit }) => keys === 'all' || keys.has(commit))
            .map(({ commit }) => commit);
          // For a longer range, its two ends.
          onSelect(chosen.length > 2 ? [chosen[0]!, chosen.at(-1)!] : chosen);
        }}
      >
        {({ commit, row }) => (
          <GridListItem className="commit-item" textValue={subjectOf(commit)}>
            <GraphCell row={row} lanes={lanes} isMerge={commit.parents.length > 1} />
            <div className="commit-text" style={{ maxWidth: `calc(100% - ${graphWidth(lanes)}px)` }}>
              <div className="row">
                <RefBadges refs={refs} commit={commit.commit} />
                <span className="commit-subject cut">{subjectOf(commit)}</span>
              </div>
              <div className="row small faint">
                <span className="cut">{authorName(commit.author)}</span>
                <time dateTime={commit.time} title={formatMoment(commit.time)}>
                  {formatAgo(commit.time)}
                </time>
                <span className="code commit-hash">{formatHash(commit.commit)}</span>
              </div>
            </div>
          </GridListItem>
        )}
      </GridList>
    </Virtualizer>
  );
}

export function RefBadges({ refs, commit }: { readonly refs: readonly RefRow[]; readonly commit: string }) {
  return refs
    .filter((ref) => ref.commit === commit)
    .map(({ kind, name, isCurrent }) => (
      <span key={`${kind} ${name}`} className={`ref ref-${kind} ${isCurrent ? 'is-current' : ''}`}>
        <Icon name={kind} size={12} />
        <span className="unseen">{kind === 'branch' ? 'Branch' : 'Tag'}</span> {name}
      </span>
    ));
}
