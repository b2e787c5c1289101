/** The list of commits with their graph. A click selects one, Ctrl or Shift a second one to compare. */
import { useMemo } from 'react';
import { GridList, GridListItem } from 'react-aria-components/GridList';
import { ListLayout, Virtualizer } from 'react-aria-components/Virtualizer';
import type { CommitEvent } from '../../../engine/api/events.ts';
import type { RefRow } from '../../../engine/api/host/history.ts';
import { formatHash } from '../../../engine/api/text/numbers.ts';
import { Ago } from '../../design/ago.tsx';
import { Badge } from '../../design/badge.tsx';
import { Icon } from '../../design/icon.tsx';
import { type ContextActions, ContextMenu, keyOfRow } from '../../design/overlays/context-menu.tsx';
import { useTokenPx } from '../../shell/appearance/density.ts';
import { actionsOfCommit, actionsOfRef, type RefMenu } from '../refs/ref-task.ts';
import { authorName, subjectOf } from './commit-words.ts';
import { GraphCell, graphWidth } from './graph-cell.tsx';
import type { GraphRow } from './graph-lanes.ts';

export interface CommitListProps {
  readonly commits: readonly CommitEvent[];
  /** One row per commit. */
  readonly graph: readonly GraphRow[];
  readonly refs: readonly RefRow[];
  readonly selected: readonly string[];
  /** At most two, in the order of the list. */
  readonly onSelect: (commits: readonly string[]) => void;
  readonly menu: RefMenu;
}

export function CommitList({ commits, graph, refs, selected, onSelect, menu }: CommitListProps) {
  const rowPx = useTokenPx('--commit-height');
  const lanes = useMemo(() => Math.max(1, ...graph.map(({ width }) => width)), [graph]);
  const layoutOptions = useMemo(() => ({ rowHeight: rowPx }), [rowPx]);
  const items = useMemo(
    () => commits.map((commit, index) => ({ id: commit.commit, commit, row: graph[index]! })),
    [commits, graph],
  );
  const actionsAt = (element: Element): ContextActions | undefined => {
    const found = commits.find(({ commit }) => commit === keyOfRow(element));
    if (!found) return undefined;
    const name = element.closest<HTMLElement>('[data-ref]')?.dataset.ref;
    const ref = refs.find((one) => `${one.kind} ${one.name}` === name);
    return ref
      ? { label: `For ${ref.name}`, actions: actionsOfRef(ref, menu) }
      : { label: `For ${subjectOf(found)}`, actions: actionsOfCommit(found, refs, menu) };
  };
  return (
    <ContextMenu actionsAt={actionsAt}>
      <Virtualizer layout={ListLayout} layoutOptions={layoutOptions}>
        <GridList
          className="commit-list"
          aria-label="Commits"
          items={items}
          dependencies={[lanes, refs, rowPx]}
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
            <GridListItem
              className={`commit-item ${commit.isForgotten ? 'is-forgotten' : ''}`}
              textValue={`${subjectOf(commit)}${commit.isForgotten ? ', forgotten' : ''}`}
            >
              <GraphCell row={row} lanes={lanes} isMerge={commit.parents.length > 1} heightPx={rowPx} />
              <div className="commit-text" style={{ maxWidth: `calc(100% - ${graphWidth(lanes)}px)` }}>
                <div className="row">
                  <RefBadges refs={refs} commit={commit.commit} />
                  <span className="commit-subject cut">{subjectOf(commit)}</span>
                  {commit.isForgotten && <Badge>Forgotten</Badge>}
                </div>
                <div className="row small faint">
                  <span className="cut">{authorName(commit.author)}</span>
                  <Ago moment={commit.time} />
                  <span className="code commit-hash">{formatHash(commit.commit)}</span>
                </div>
              </div>
            </GridListItem>
          )}
        </GridList>
      </Virtualizer>
    </ContextMenu>
  );
}

export function RefBadges({ refs, commit }: { readonly refs: readonly RefRow[]; readonly commit: string }) {
  return refs
    .filter((ref) => ref.commit === commit)
    .map(({ kind, name, isCurrent }) => (
      <span
        key={`${kind} ${name}`}
        data-ref={`${kind} ${name}`}
        className={`ref ref-${kind} ${isCurrent ? 'is-current' : ''}`}
        title={name}
      >
        <Icon name={kind} size={12} />
        <span className="unseen">{kind === 'branch' ? 'Branch' : 'Tag'}</span>{' '}
        <span className="cut">{name}</span>
      </span>
    ));
}
