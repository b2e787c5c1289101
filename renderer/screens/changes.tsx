/** Shows what a push or a pull would do before it runs. */
import './changes/changes.css';
import { memo, type ReactNode, useDeferredValue, useRef, useState } from 'react';
import type { ChangeList, ChangeRow } from '../../engine/api/host/changes.ts';
import type { WorkspaceCard } from '../../engine/api/host/home.ts';
import type { TransferOrder } from '../../engine/api/host/transfers.ts';
import { IconButton, LinkButton } from '../design/button.tsx';
import { Segmented } from '../design/choices.tsx';
import { Screen } from '../design/screen.tsx';
import { EmptyState, Loading } from '../design/states.tsx';
import { ErrorState } from '../failures/failure.tsx';
import { useDo } from '../host/use-host.tsx';
import { goTo, hrefOf, useRoute } from '../route.ts';
import { showFailure } from '../shell/toasts.tsx';
import { WithWorkspace } from '../shell/with-workspace.tsx';
import { ChangeTable } from './changes/change-table.tsx';
import { type Choices, decide, decideAll, skippedPaths, toggleSkip } from './changes/choices.ts';
import { ListToolbar } from './changes/list-toolbar.tsx';
import { PreviewPane } from './changes/preview-pane.tsx';
import { rowsOf, SendBar } from './changes/send-bar.tsx';
import { TransferNotice } from './changes/transfer-notice.tsx';
import { type Direction, type Look, useChangeList, useRowPages } from './changes/use-change-list.ts';

export function ChangesScreen() {
  const { given } = useRoute();
  const direction: Direction = given.direction === 'pull' ? 'pull' : 'push';
  const [begun, setBegun] = useState<string>();
  return (
    <WithWorkspace title="Changes">
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

const FIRST_LOOK: Look = { filter: '', kinds: new Set(), sort: 'path', isTree: true, open: new Set() };

function Changes({ workspace, direction, notice, onBegun }: ChangesProps) {
  const { root, branch, remotes } = workspace;
  const { list, choices, choose, error, isOpening, reopen } = useChangeList(root, direction);
  const [message, setMessage] = useState('');
  const remote = remotes.find(({ isDefault }) => isDefault)?.name;
  return (
    <Screen
      title="Changes"
      isFull
      note={
        <>
          {workspace.name}, {branch} {direction === 'push' ? 'to' : 'from'} {remote}
        </>
      }
      actions={
        <>
          <IconButton icon="refresh" label="Look again" onPress={reopen} isDisabled={isOpening} />
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
            direction === 'push' ? 'Looking for changes in the folder' : 'Asking the remote for new commits'
          }
        />
      ) : rowsOf(list) === 0 ? (
        <NothingToDo direction={direction} />
      ) : (
        <ListOfChanges
          key={list.list}
          root={root}
          list={list}
          choices={choices}
          onChoices={choose}
          message={message}
          onMessage={setMessage}
          onBegun={onBegun}
        />
      )}
    </Screen>
  );
}

function NothingToDo({ direction }: { readonly direction: Direction }) {
  return direction === 'push' ? (
    <EmptyState
      icon="check"
      title="Nothing to push"
      actions={<LinkButton href={hrefOf('changes', { direction: 'pull' })}>Check the remote</LinkButton>}
    >
      Every file of this folder is in the last commit.
    </EmptyState>
  ) : (
    <EmptyState icon="check" title="Nothing to pull">
      This folder already has every commit of the remote.
    </EmptyState>
  );
}

interface ListOfChangesProps extends Pick<ChangesProps, 'onBegun'> {
  readonly root: string;
  readonly list: ChangeList;
  readonly choices: Choices;
  readonly onChoices: (choices: Choices) => void;
  /** Kept when the list is refreshed. */
  readonly message: string;
  readonly onMessage: (message: string) => void;
}

/** Transfers change several times a second; they must not re-render all of this. */
const ListOfChanges = memo(function ListOfChanges(props: ListOfChangesProps) {
  const { root, list, choices, onChoices, message, onMessage, onBegun } = props;
  const search = useRef<HTMLInputElement>(null);
  const [look, setLook] = useState(FIRST_LOOK);
  const [selected, setSelected] = useState<ChangeRow>();
  const [hasSeenDeleted, setSeenDeleted] = useState(false);
  const [isAcknowledged, setAcknowledged] = useState(false);
  const pages = useRowPages(root, list, useDeferredValue(look));
  const start = useDo('transfers.start');
  const isPush = list.direction === 'push';
  const isWhole = look.filter === '' && look.kinds.size === 0;
  const show = (kind: ChangeRow['change']) =>
    setLook({ ...look, filter: '', kinds: new Set([kind]), isTree: false });
  const send = () => {
    start.mutate(orderOf(root, list, message, choices), {
      onSuccess: ({ id }) => {
        onBegun(id);
        onMessage('');
      },
      onError: (error) => showFailure(isPush ? 'The push did not start' : 'The pull did not start', error),
    });
  };
  return (
    <>
      <ListToolbar
        list={list}
        look={look}
        searchRef={search}
        onLook={(next) => {
          setLook(next);
          if (next.kinds.size === 1 && next.kinds.has('deleted')) setSeenDeleted(true);
        }}
      />
      <div className="changes-panes">
        {pages ? (
          <ChangeTable
            pages={pages}
            isTree={look.isTree}
            open={look.open}
            onToggleFolder={(path) => setLook({ ...look, open: toggled(look.open, path) })}
            choices={choices}
            // A folder stands for everything below it, which a search or a filter by kind would hide.
            canSkip={(row) => isPush && row.change !== 'conflict' && (isWhole || row.below === undefined)}
            onSkip={(row) => onChoices(toggleSkip(choices, row))}
            onDecide={(path, winner) => onChoices(decide(choices, path, winner))}
            selected={selected?.path}
            onSelect={setSelected}
            onSearch={() => search.current?.focus()}
          />
        ) : (
          <Loading label="Reading the changes" />
        )}
        <PreviewPane root={root} list={list} row={selected} />
      </div>
      <SendBar
        root={root}
        list={list}
        choices={choices}
        message={message}
        onMessage={onMessage}
        hasSeenDeleted={hasSeenDeleted}
        isAcknowledged={isAcknowledged}
        onShowDeleted={() => {
          show('deleted');
          setSeenDeleted(true);
        }}
        onAcknowledge={setAcknowledged}
        onDecideAll={(winner) => onChoices(decideAll(choices, winner))}
        onShowConflicts={() => show('conflict')}
        isSending={start.isPending}
        onSend={send}
      />
    </>
  );
});

function orderOf(root: string, list: ChangeList, message: string, choices: Choices): TransferOrder {
  if (list.direction === 'push') {
    const skip = skippedPaths(choices);
    return {
      kind: 'push',
      root,
      ...(message.trim() === '' ? {} : { message: message.trim() }),
      ...(skip.length === 0 ? {} : { skip }),
    };
  }
  const { decided, forAll } = choices;
  return {
    kind: 'pull',
    root,
    // Exactly the commit shown: the branch may have moved since.
    ...(list.commit === undefined ? {} : { ref: list.commit }),
    ...(forAll === undefined ? {} : { conflicts: forAll }),
    ...(decided.size === 0 ? {} : { decisions: Object.fromEntries(decided) }),
  };
}

function toggled(set: ReadonlySet<string>, one: string): ReadonlySet<string> {
  const next = new Set(set);
  if (!next.delete(one)) next.add(one);
  return next;
}
