/** The commits of a workspace as a graph, and beside it one commit, or the difference between any two. */
import { AnswerState } from '../failures/answer-state.tsx';
import './history/history.css';
import { lazy, type ReactNode, Suspense, useEffect, useMemo, useState } from 'react';
import type { RefRow } from '../../engine/api/host/history.ts';
import type { WorkspaceCard } from '../../engine/api/host/home.ts';
import type { AnswerOf } from '../../engine/api/host.ts';
import { formatPlural } from '../../engine/api/text/numbers.ts';
import { Button, LinkButton } from '../design/controls/button.tsx';
import { Select } from '../design/controls/field.tsx';
import { LeavingButton } from '../design/controls/leaving-button.tsx';
import { Screen } from '../design/screen.tsx';
import { EmptyState } from '../design/states.tsx';
import { useAsk } from '../host/use-host.tsx';
import { hrefOf, replacePlace, useRoute } from '../route.ts';
import { WithWorkspace } from '../shell/with-workspace.tsx';
import { CommitList } from './history/commit-list.tsx';
import { CommitPanel } from './history/commit-panel.tsx';
import { openCommits } from './history/commit-words.ts';
import { CompareAny, type Compared } from './history/compare-any.tsx';
import { layOutGraph } from './history/graph-lanes.ts';
import { midwayWords } from './refs/midway-notice.tsx';
import { RefSwitcher } from './refs/ref-switcher.tsx';
import { markCurrent, type RefMenu, type RefTask } from './refs/ref-task.ts';
import { COMMITS_ASKED } from './refs/version-picker.tsx';

const RefDialog = lazy(async () => ({ default: (await import('./refs/ref-dialogs.tsx')).RefDialog }));

/** The engine's limit for one request. */
const LIMIT_MAX = 10_000;
const ALL = '*';

export function HistoryScreen() {
  return (
    <WithWorkspace
      title="History"
      lesson="History shows every version that was pushed. You can compare any two, and restore any file."
    >
      {(workspace) => <History workspace={workspace} />}
    </WithWorkspace>
  );
}

function History({ workspace }: { readonly workspace: WorkspaceCard }) {
  const { branch: current, root } = workspace;
  const [limit, setLimit] = useState(COMMITS_ASKED);
  const [branch, setBranch] = useState(ALL);
  const history = useAsk(
    'history.list',
    { root, limit, ...(branch === ALL ? {} : { branch }) },
    { keepsPrevious: true },
  );
  const commits = history.data?.commits;
  const allRefs = history.data?.refs;
  const refs = useMemo(() => markCurrent(allRefs ?? [], current), [allRefs, current]);
  const place = useHistoryPlace();
  const isOlder = commits !== undefined && commits.length >= limit && limit < LIMIT_MAX;
  const isElsewhere =
    place.commit !== undefined && commits?.every(({ commit }) => commit !== place.commit) === true;
  useEffect(() => {
    // The commit of a tag may be older than all listed ones.
    if (isElsewhere && isOlder && !history.isFetching) setLimit(Math.min(2 * limit, LIMIT_MAX));
  }, [isElsewhere, isOlder, history.isFetching, limit]);
  return (
    <Screen
      title="History"
      isFull
      note={
        <span className="row">
          <RefSwitcher
            root={root}
            branch={current}
            midway={midwayWords(workspace)}
            isOpen={place.isSwitching}
            onOpenChange={place.setSwitching}
          />
          {commits && formatPlural(commits.length, 'commit')}
        </span>
      }
      actions={
        <>
          <Button
            icon="changes"
            isDisabled={!commits?.length}
            onPress={() => place.compare(commits?.[0]?.parents[0] ?? '@')}
          >
            Compare
          </Button>
          <BranchFilter refs={refs} value={branch} onChange={setBranch} />
        </>
      }
    >
      {!commits && <AnswerState of={history} label="Reading the history" title="Cannot read the history" />}
      {commits?.length === 0 && (
        <EmptyState
          icon="history"
          title="No commits yet"
          actions={
            <LinkButton href={hrefOf('changes', { direction: 'push' })}>See what a push would do</LinkButton>
          }
        >
          The first push makes the first commit. After that you can restore every state that was pushed.
        </EmptyState>
      )}
      {commits !== undefined && commits.length > 0 && (
        <Commits root={root} commits={commits} refs={refs} place={place}>
          {isOlder && (
            <div className="history-more">
              <LeavingButton
                size="small"
                look="quiet"
                leadsTo=".commit-list"
                isPending={history.isFetching}
                onPress={() => setLimit(limit + COMMITS_ASKED)}
              >
                Show older commits
              </LeavingButton>
            </div>
          )}
        </Commits>
      )}
      {place.task && (
        <Suspense>
          <RefDialog
            root={root}
            task={place.task}
            onClose={() => place.open(undefined)}
            onNext={place.open}
          />
        </Suspense>
      )}
    </Screen>
  );
}

function BranchFilter({
  refs,
  value,
  onChange,
}: {
  readonly refs: readonly RefRow[];
  readonly value: string;
  readonly onChange: (branch: string) => void;
}) {
  const branches = refs.filter(({ kind }) => kind === 'branch');
  const choices = [
    { id: ALL, label: 'All branches' },
    ...branches.map(({ name, isCurrent }) => ({
      id: name,
      label: name,
      ...(isCurrent ? { note: 'checked out here' } : {}),
    })),
  ];
  return (
    <div className="history-branch">
      <Select label="Branches shown" isLabelUnseen choices={choices} value={value} onChange={onChange} />
    </div>
  );
}

interface CommitsProps {
  readonly root: string;
  readonly commits: AnswerOf<'history.list'>['commits'];
  readonly refs: readonly RefRow[];
  readonly place: HistoryPlace;
  /** Below the list. */
  readonly children: ReactNode;
}

function Commits({ root, commits, refs, place, children }: CommitsProps) {
  const graph = useMemo(() => layOutGraph(commits), [commits]);
  const { commit = '', compare, compared, open } = place;
  const chosen = compared ? [compared.from, compared.to].map((one) => commitOf(one, refs)) : [commit];
  const selected = openCommits(commits, chosen);
  const menu: RefMenu = { open, compare };
  return (
    <div className="history">
      <div className="history-list">
        <CommitList
          commits={commits}
          graph={graph}
          refs={refs}
          selected={selected}
          onSelect={choose}
          menu={menu}
        />
        {children}
      </div>
      {compared ? (
        <CompareAny
          root={root}
          compared={compared}
          onChange={(next) => replacePlace('history', { ...next })}
          onClose={() => replacePlace('history')}
        />
      ) : (
        <CommitPanel root={root} commits={commits} refs={refs} selected={selected[0]} menu={menu} />
      )}
    </div>
  );
}

/** Shows one chosen commit, or compares two. @param chosen Newest first. */
function choose(chosen: readonly string[]): void {
  const [newer = '', older] = chosen;
  if (older === undefined) replacePlace('history', { commit: newer });
  else replacePlace('history', { from: older, to: newer });
}

function commitOf(version: string, refs: readonly RefRow[]): string {
  return refs.find(({ name }) => name === version)?.commit ?? version;
}

interface HistoryPlace extends RefMenu {
  /** The chosen commit. */
  readonly commit: string | undefined;
  readonly compared: Compared | undefined;
  readonly task: RefTask | undefined;
  readonly open: (task: RefTask | undefined) => void;
  readonly isSwitching: boolean;
  readonly setSwitching: (isOpen: boolean) => void;
}

/**
 * The state in the address: a commit, two versions to compare, or a dialog that the palette opens. The dialog
 * is removed from the address at once, so a reload does not open it again.
 */
function useHistoryPlace(): HistoryPlace {
  const { given } = useRoute();
  const [task, setTask] = useState<RefTask>();
  const [isSwitching, setSwitching] = useState(false);
  const { commit, do: wanted, from, to } = given;
  useEffect(() => {
    if (wanted === undefined) return;
    replacePlace('history', wanted === 'compare' ? { from: '@', to: '@' } : {});
    if (wanted === 'switch') setSwitching(true);
    else if (wanted === 'branch' || wanted === 'tag') setTask({ do: 'new', kind: wanted });
    else if (wanted === 'restore') setTask({ do: 'restore', commit: '@' });
  }, [wanted]);
  return {
    commit,
    compared: from !== undefined && to !== undefined ? { from, to } : undefined,
    compare: (version) => replacePlace('history', { from: version, to: '@' }),
    task,
    open: setTask,
    isSwitching,
    setSwitching,
  };
}
