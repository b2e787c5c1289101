/** Shows what a push or a pull would do before it runs. */
import './changes/changes.css';
import { lazy, memo, type ReactNode, Suspense, useDeferredValue, useEffect, useRef, useState } from 'react';
import type { ChangeList, ChangeRow } from '../../engine/api/host/changes.ts';
import type { WorkspaceCard } from '../../engine/api/host/home.ts';
import { IconButton, LinkButton } from '../design/controls/button.tsx';
import { Segmented } from '../design/controls/choices.tsx';
import { formatClock } from '../design/format.ts';
import { Screen } from '../design/screen.tsx';
import { EmptyState, Loading } from '../design/states.tsx';
import { ErrorState } from '../failures/failure.tsx';
import { useDo, useHost } from '../host/use-host.tsx';
import { goTo, hrefOf, useRoute } from '../route.ts';
import { showFailure } from '../shell/toasts/toasts.tsx';
import { WithWorkspace } from '../shell/with-workspace.tsx';
import { ListToolbar } from './changes/list-toolbar.tsx';
import { PreviewPane } from './changes/preview-pane.tsx';
import { FolderNewsBar, ScanStatusText } from './changes/scan-status.tsx';
import { rowsOf, SendBar } from './changes/send-bar.tsx';
import { ChangeMenu } from './changes/table/change-menu.tsx';
import { ChangeTable } from './changes/table/change-table.tsx';
import { TransferNotice, useNewestTransfer } from './changes/transfer-notice.tsx';
import {
  type Direction,
  type Look,
  type OpenedList,
  useChangeList,
  useRowPages,
  viewOf,
} from './changes/use-change-list.ts';
import { type ScanStatus, useFolderWatch, useScanStatus } from './changes/use-scan-status.ts';
import { jobOfChanges } from './jobs/job-of-changes.ts';
import { MidwayNotice, midwayWords } from './refs/midway-notice.tsx';
import { RefSwitcher } from './refs/ref-switcher.tsx';
import { NOTHING_TO_PUSH } from './transfers/state-words.ts';

const KeptDialog = lazy(async () => ({ default: (await import('./changes/kept-dialog.tsx')).KeptDialog }));

export function ChangesScreen() {
  const { given } = useRoute();
  const direction: Direction = given.direction === 'pull' ? 'pull' : 'push';
  const [begun, setBegun] = useState<string>();
  return (
    <WithWorkspace
      title="Changes"
      lesson="Changes lists every file that a push would send or a pull would write, before it does."
    >
      {(workspace) => (
        <Changes
          key={direction}
          workspace={workspace}
          direction={direction}
          notice={<TransferNotice root={workspace.root} begunHere={begun} />}
          onBegun={setBegun}
        />
      )}
    </WithWorkspace>
  );
}

interface ChangesProps {
  readonly workspace: WorkspaceCard;
  readonly direction: Direction;
  /** The result of the last one. */
  readonly notice: ReactNode;
  /** Called with the id of the transfer that runs this list. */
  readonly onBegun: (transfer: string) => void;
}

function Changes({ workspace, direction, notice, onBegun }: ChangesProps) {
  const { root, branch, remotes } = workspace;
  const watch = useFolderWatch(root);
  const opened = useChangeList(root, direction);
  const { list, error, hearChoices, isOpening, reopen } = opened;
  useEffect(() => hearChoices(watch.choices), [hearChoices, watch.choices]);
  const newest = useNewestTransfer(root)?.state;
  const isBusy = isOpening || newest === 'running' || newest === 'waiting';
  const pushed = direction === 'push' ? list : undefined;
  const looked = useScanStatus(root, pushed, { watch, isBusy, onEmptyChanged: reopen });
  const [isShowingKept, setShowingKept] = useState(false);
  const remote = remotes.find(({ isDefault }) => isDefault)?.name;
  return (
    <Screen
      title="Changes"
      isFull
      note={
        <span className="row">
          <span className="cut">{workspace.name}</span>
          <RefSwitcher root={root} branch={branch} midway={midwayWords(workspace)} />
          <span className="cut">
            {direction === 'push' ? 'to' : 'from'} {remote}
          </span>
          {looked ? (
            <ScanStatusText {...looked} />
          ) : (
            list && <span className="cut soft">Asked at {formatClock(list.lookedMs)}</span>
          )}
        </span>
      }
      actions={
        <>
          <IconButton
            icon="jobs"
            label="Save as a job"
            onPress={() => goTo('jobs', jobOfChanges(root, direction, opened.message))}
          />
          <IconButton icon="history" label="Kept files" onPress={() => setShowingKept(true)} />
          <IconButton icon="refresh" label="Refresh" onPress={reopen} isPending={isOpening} />
          <Segmented
            label="Direction"
            value={direction}
            onChange={(next) => goTo('changes', { direction: next })}
            choices={[
              { id: 'push', label: 'Push', icon: 'upload' },
              { id: 'pull', label: 'Pull', icon: 'download' },
            ]}
          />
        </>
      }
    >
      {notice}
      {midwayWords(workspace) !== undefined && (
        <div className="changes-notice">
          <MidwayNotice workspace={workspace} />
        </div>
      )}
      {isShowingKept && (
        <Suspense>
          <KeptDialog root={root} onClose={() => setShowingKept(false)} />
        </Suspense>
      )}
      {error ? (
        <ErrorState
          title={direction === 'push' ? 'Cannot read the folder' : 'Cannot reach the remote'}
          error={error}
          onRetry={reopen}
          actions={<LinkButton href={hrefOf('remotes')}>Remotes</LinkButton>}
        />
      ) : !list ? (
        <Loading
          label={
            direction === 'push' ? 'Scanning the folder for changes' : 'Asking the remote for new commits'
          }
        />
      ) : rowsOf(list) === 0 ? (
        <NothingToDo direction={direction} looked={looked} lookedMs={looked?.lookedMs ?? list.lookedMs} />
      ) : (
        <ListOfChanges root={root} opened={opened} list={list} newRows={looked?.newRows} onBegun={onBegun} />
      )}
    </Screen>
  );
}

function NothingToDo({
  direction,
  lookedMs,
  looked,
}: {
  readonly direction: Direction;
  readonly lookedMs: number;
  readonly looked: ScanStatus | undefined;
}) {
  const clock = formatClock(lookedMs);
  return direction === 'push' ? (
    <EmptyState
      icon="check"
      title={NOTHING_TO_PUSH}
      actions={<LinkButton href={hrefOf('changes', { direction: 'pull' })}>Check the remote</LinkButton>}
    >
      At {clock} every file of this folder was in the last commit.{' '}
      {looked?.unwatched
        ? 'The folder is not watched. Dray scans it when you come back to this window.'
        : 'Changes appear here automatically.'}
    </EmptyState>
  ) : (
    <EmptyState icon="check" title="Nothing to pull">
      At {clock} this folder had every commit of the remote.
    </EmptyState>
  );
}

interface ListOfChangesProps extends Pick<ChangesProps, 'onBegun'> {
  readonly root: string;
  readonly opened: OpenedList;
  readonly list: ChangeList;
  /** Changes in the folder now, if they are others than those of the list. */
  readonly newRows: number | undefined;
}

/** Transfers change several times a second; they must not re-render all of this. */
const ListOfChanges = memo(function ListOfChanges(props: ListOfChangesProps) {
  const { root, list, opened, newRows, onBegun } = props;
  const { choices, choose, look, message, seen, setLook } = opened;
  const search = useRef<HTMLInputElement>(null);
  const [selected, setSelected] = useState<ChangeRow>();
  // Names the deletions, because the next list may have others.
  const [shownDeleted, setShownDeleted] = useState<number>();
  const isDeletedAlone = showsDeletedAlone(look);
  const isAcknowledged = seen === list.deletions;
  const drawn = useDeferredValue(look);
  const pages = useRowPages(root, list, drawn);
  const host = useHost();
  const isPush = list.direction === 'push';
  const start = useDo('changes.send', {
    onSuccess: ({ id }) => onBegun(id),
    onError: (error) => {
      opened.reloadChoices();
      showFailure(isPush ? 'The push did not start' : 'The pull did not start', error);
    },
  });
  const isWhole = look.filter === '' && look.kinds.size === 0;
  const show = (kind: ChangeRow['change']) =>
    setLook({ ...look, filter: '', kinds: new Set([kind]), isTree: false });
  const send = () => {
    const { commit, direction } = list;
    const shown = { root, direction, version: opened.version(), message };
    start.mutate(commit === undefined ? shown : { ...shown, commit });
  };
  return (
    <>
      <ListToolbar
        list={list}
        look={look}
        searchRef={search}
        onLook={(next) => {
          setLook(next);
          if (showsDeletedAlone(next) || isDeletedAlone) setShownDeleted(list.deletions);
        }}
      />
      <div className="changes-panes">
        {pages ? (
          <ChangeMenu root={root} isPush={isPush} rowAt={pages.rowAt}>
            <ChangeTable
              pages={pages}
              isTree={look.isTree}
              open={look.open}
              onToggleFolder={(path) => setLook({ ...look, open: toggled(look.open, path) })}
              choices={choices}
              // A folder stands for everything below it, which a search or a filter by kind would hide.
              canSkip={(row) => isPush && row.change !== 'conflict' && (isWhole || row.below === undefined)}
              onSkip={(row) => choose({ do: 'toggle', row })}
              onDecide={(path, winner) => choose({ do: 'decide', path, winner })}
              selected={selected?.path}
              onSelect={setSelected}
              seek={(path, signal) =>
                host.ask('changes.seek', { root, list: list.list, path, view: viewOf(drawn) }, { signal })
              }
              onSearch={() => search.current?.focus()}
            />
          </ChangeMenu>
        ) : (
          <Loading label="Reading the changes" />
        )}
        <PreviewPane root={root} list={list} row={selected} />
      </div>
      {/* Below the rows, so that none of them moves. */}
      <FolderNewsBar newRows={newRows} rows={rowsOf(list)} onShow={opened.reopen} />
      <SendBar
        root={root}
        list={list}
        choices={choices}
        message={message}
        onMessage={opened.setMessage}
        hasSeenDeleted={isAcknowledged || isDeletedAlone || shownDeleted === list.deletions}
        isAcknowledged={isAcknowledged}
        onShowDeleted={() => {
          show('deleted');
          setShownDeleted(list.deletions);
        }}
        onAcknowledge={opened.setSeen}
        onDecideAll={(winner) => choose({ do: 'decideAll', winner })}
        onShowConflicts={() => show('conflict')}
        isSending={start.isPending}
        sent={start.data?.id}
        onSend={send}
      />
    </>
  );
});

function showsDeletedAlone({ kinds }: Look): boolean {
  return kinds.size === 1 && kinds.has('deleted');
}

function toggled(set: ReadonlySet<string>, one: string): ReadonlySet<string> {
  const next = new Set(set);
  if (!next.delete(one)) next.add(one);
  return next;
}
