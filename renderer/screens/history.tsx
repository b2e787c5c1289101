/** The commits of a workspace as a graph, and beside it one commit, or the difference between any two. */
import './history.css';
import { useMemo, useState } from 'react';
import { formatPlural } from '../../engine/api/numbers.ts';
import { Button } from '../design/button.tsx';
import { Select } from '../design/field.tsx';
import { Screen } from '../design/screen.tsx';
import { EmptyState, Loading } from '../design/states.tsx';
import { ErrorState } from '../failures/failure.tsx';
import { useAsk } from '../host/use-host.tsx';
import { WithWorkspace } from '../shell/with-workspace.tsx';
import { CommitList } from './history/commit-list.tsx';
import { CommitPanel } from './history/commit-panel.tsx';
import { openCommits } from './history/commit-words.ts';
import { layOutGraph } from './history/graph-lanes.ts';

const PAGE = 200;
/** The engine's limit for one request. */
const LIMIT_MAX = 10_000;
const ALL = '*';

export function HistoryScreen() {
  return <WithWorkspace title="History">{({ root }) => <History root={root} />}</WithWorkspace>;
}

function History({ root }: { readonly root: string }) {
  const [limit, setLimit] = useState(PAGE);
  const [branch, setBranch] = useState(ALL);
  const [selected, setSelected] = useState<readonly string[]>([]);
  const history = useAsk(
    'history.list',
    { root, limit, ...(branch === ALL ? {} : { branch }) },
    { keepsPrevious: true },
  );
  const commits = history.data?.commits;
  const refs = history.data?.refs ?? [];
  const graph = useMemo(() => layOutGraph(commits ?? []), [commits]);

  const branches = refs.filter(({ kind }) => kind === 'branch');
  const choices = [
    { id: ALL, label: 'All branches' },
    ...branches.map(({ name, isCurrent }) => ({
      id: name,
      label: name,
      ...(isCurrent ? { note: 'checked out here' } : {}),
    })),
  ];
  const open = openCommits(commits ?? [], selected);

  return (
    <Screen
      title="History"
      isFull
      note={commits && formatPlural(commits.length, 'commit')}
      actions={
        <div className="history-branch">
          <Select label="Branch" isLabelUnseen choices={choices} value={branch} onChange={setBranch} />
        </div>
      }
    >
      {history.isPending && <Loading label="Reading the history" />}
      {history.error && !commits && (
        <ErrorState
          title="Cannot read the history"
          error={history.error}
          onRetry={() => void history.refetch()}
        />
      )}
      {commits?.length === 0 && (
        <EmptyState icon="history" title="No commits yet">
          The first push makes the first commit. After that you can restore every state that was pushed.
        </EmptyState>
      )}
      {commits !== undefined && commits.length > 0 && (
        <div className="history">
          <div className="history-list">
            <CommitList commits={commits} graph={graph} refs={refs} selected={open} onSelect={setSelected} />
            {commits.length >= limit && limit < LIMIT_MAX && (
              <div className="history-more">
                <Button
                  size="small"
                  look="quiet"
                  isDisabled={history.isFetching}
                  onPress={() => setLimit(limit + PAGE)}
                >
                  Show older commits
                </Button>
              </div>
            )}
          </div>
          <CommitPanel root={root} commits={commits} refs={refs} selected={open} />
        </div>
      )}
    </Screen>
  );
}
