/** Two panes, this computer and any remote: browse, copy between them, sync them. */
import './browse/browse.css';
import { useEffect, useRef, useState } from 'react';
import type { EntryRow } from '../../engine/api/host/browse.ts';
import { formatCount, formatPlural } from '../../engine/api/text/numbers.ts';
import { Button } from '../design/controls/button.tsx';
import { focusIfLost } from '../design/controls/focus-if-lost.ts';
import { Screen } from '../design/screen.tsx';
import { Loading, Notice } from '../design/states.tsx';
import { ErrorNotice, ErrorState } from '../failures/failure.tsx';
import { useAsk, useEndings, useRefresh } from '../host/use-host.tsx';
import { useRoute } from '../route.ts';
import { showFailure } from '../shell/toasts/toasts.tsx';
import { BrowseActions } from './browse/browse-actions.tsx';
import { chosenFrom } from './browse/copy-orders.ts';
import { DeleteDialog, NewFolderDialog, QuickLook, ReplaceDialog } from './browse/dialogs.tsx';
import { DropReport } from './browse/drops/drop-report.tsx';
import { type ChosenEntries, NOTHING } from './browse/entries/choice.ts';
import { useFolderSizes } from './browse/entries/use-folder-sizes.ts';
import { Pane } from './browse/pane.tsx';
import type { Side } from './browse/pane-state.ts';
import {
  describeLocation,
  isFixed,
  isSameLocation,
  type Location,
  linkedRoot,
  localLocation,
  nameOf,
  placeOf,
  rootsOf,
} from './browse/places.ts';
import { PlanDialog } from './browse/plan-dialog.tsx';
import { RepositoryDialog } from './browse/repository-dialog.tsx';
import { type PanePair, type PanesStart, usePanePair } from './browse/use-pane-pair.ts';
import { useRemoval } from './browse/use-removal.ts';
import { useSending } from './browse/use-sending.ts';
import { type RepositoryRefusal, refusedRepository, useStartTransfers } from './start-transfer.ts';

/** A removal of more entries than this shows its progress. */
const LONG_REMOVAL = 500;

/** The open dialog. */
type Asked =
  | { readonly dialog: 'look'; readonly entry: EntryRow }
  | { readonly dialog: 'delete' | 'folder' | 'plan' };

export function BrowseScreen() {
  const { given } = useRoute();
  const home = useAsk('home.listFolders', {}, { freshMs: 600_000 });
  const remotes = useAsk('remotes.list', {});
  // Not cached, because the panes have moved since the screen was last open.
  const kept = useAsk('browse.panes', {}, { heldMs: 0 });
  if (home.isPending || remotes.isPending || kept.isPending) {
    return (
      <Screen title="Browse">
        <Loading label="Loading your folders and remotes" />
      </Screen>
    );
  }
  if (home.error || remotes.error) {
    return (
      <Screen title="Browse">
        <ErrorState
          title="Cannot read your folders and remotes"
          error={home.error ?? remotes.error ?? { message: '' }}
          onRetry={() => {
            void home.refetch();
            void remotes.refetch();
          }}
        />
      </Screen>
    );
  }
  const panes = kept.data ?? {};
  const local = localLocation(home.data.folder);
  const roots = rootsOf(local.root, remotes.data.remotes);
  if (given.place === undefined)
    return <Panes local={local} roots={roots} right={given.remote} kept={panes} />;
  // A place from a link: shown for now, not saved.
  const linked = linkedRoot(roots, given.place);
  return (
    <Panes
      key={given.place}
      kept={panes}
      local={local}
      roots={roots.includes(linked) ? roots : [...roots, linked]}
      right={linked.label}
    />
  );
}

function Panes(start: PanesStart) {
  const pair = usePanePair(start);
  const { active, chosen, here, there } = pair;
  const [asked, setAsked] = useState<Asked>();
  const sizes = useFolderSizes();
  const [refused, setRefused] = useState<RepositoryRefusal>();
  const sending = useSending(setRefused);
  const remove = useRemoval();
  useReloadAfterCopies(sizes.forget);

  const look = (entry: EntryRow | undefined): void => {
    if (entry && entry.kind !== 'folder') setAsked({ dialog: 'look', entry });
  };
  const pane = (side: Side) => (
    <Pane
      side={side}
      isActive={side === active}
      state={pair.states[side]}
      entries={pair.entries[side]}
      roots={start.roots}
      sizes={sizes.known}
      onState={(next) => pair.change(side, next)}
      onActive={() => pair.activate(side)}
      onLook={look}
      onDelete={() => {
        if (!isFixed(pair.states[side].location)) setAsked({ dialog: 'delete' });
      }}
      onMakeFolder={() => {
        pair.activate(side);
        setAsked({ dialog: 'folder' });
      }}
      onSizes={(chosen) => {
        sizes
          .measure(pair.states[side].location, pair.entries[side], chosen)
          .catch((error: unknown) => showFailure('The folders were not counted', error));
      }}
      onEntries={sending.copy}
      onFiles={sending.take}
    />
  );
  return (
    <Screen
      title="Browse"
      isFull
      note={chosenNote(chosen, here)}
      actions={
        <BrowseActions
          chosen={chosen}
          other={pair.other}
          isBothSame={isSameLocation(here, there)}
          isFixed={isFixed(here)}
          isOtherFixed={isFixed(there)}
          isDeleting={remove.isPending}
          onLook={() => look(chosen.rows[0])}
          onDelete={() => setAsked({ dialog: 'delete' })}
          onCopy={() => sending.copy(chosenFrom(here, chosen), there)}
          onPlan={() => setAsked({ dialog: 'plan' })}
        />
      }
    >
      <div className="browse">
        <div className="panes">
          {pane('left')}
          {pane('right')}
        </div>
        <RemovalNotice removal={remove} />
        <DropReport />
      </div>
      <BrowseDialogs
        pair={pair}
        asked={asked}
        onRefused={setRefused}
        onClose={() => setAsked(undefined)}
        onDelete={() => {
          const places = chosen.all ? [] : chosen.rows.map(({ path }) => placeOf(here, path));
          remove.mutate({ count: chosen.count, places, all: chosen.all });
          sizes.forget();
          pair.change(active, { choice: NOTHING });
          // Nothing is chosen now, so the button that asked for the deletion is disabled.
          focusIfLost(() => document.querySelector<HTMLElement>('.pane.is-active [role="grid"]'));
        }}
      />
      <RepositoryQuestions removal={remove} refused={refused} onClose={() => setRefused(undefined)} />
      {sending.replacing && (
        <ReplaceDialog key={sending.replacing.id} {...sending.replacing} onClose={sending.forget} />
      )}
    </Screen>
  );
}

function chosenNote({ count, rows }: ChosenEntries, here: Location): string {
  const [first] = rows;
  if (count === 0) return 'Choose files, then drag or copy them to the other pane.';
  const what = count === 1 && first ? nameOf(first.path) : formatPlural(count, 'entry', 'entries');
  return `${what} in ${describeLocation(here)}`;
}

function RemovalNotice({ removal }: { readonly removal: ReturnType<typeof useRemoval> }) {
  if (removal.isPending && removal.variables.count > LONG_REMOVAL) {
    const { count } = removal.variables;
    return (
      <Notice tone="info">
        <div className="row">
          <span className="grow">
            Deleting: {formatCount(removal.removed)} of {formatPlural(count, 'entry', 'entries')}
          </span>
          <Button size="small" onPress={removal.stop}>
            Stop
          </Button>
        </div>
      </Notice>
    );
  }
  if (!removal.error || refusedRepository(removal.error) !== undefined) return null;
  return (
    <ErrorNotice
      error={removal.error}
      actions={
        <Button size="small" onPress={removal.reset}>
          Close
        </Button>
      }
    />
  );
}

interface RepositoryQuestionsProps {
  readonly removal: ReturnType<typeof useRemoval>;
  readonly refused: RepositoryRefusal | undefined;
  readonly onClose: () => void;
}

/** Asks for one name at a time, because a folder may contain several repositories. */
function RepositoryQuestions({ refused, removal, onClose }: RepositoryQuestionsProps) {
  const typed = useRef<readonly string[]>([]);
  const doomed = refusedRepository(removal.error);
  if (doomed !== undefined && removal.variables) {
    const { variables } = removal;
    const confirmed = [...(variables.confirmed ?? []), doomed];
    return (
      <RepositoryDialog
        key={confirmed.join('/')}
        name={doomed}
        action="Delete"
        onConfirm={() => removal.mutate({ ...variables, confirmed })}
        onClose={removal.giveUp}
      />
    );
  }
  if (!refused) {
    typed.current = [];
    return null;
  }
  return (
    <RepositoryDialog
      key={refused.name}
      name={refused.name}
      action="Copy into it"
      onConfirm={() => {
        typed.current = [...typed.current, refused.name];
        refused.again(typed.current);
      }}
      onClose={onClose}
    />
  );
}

interface BrowseDialogsProps {
  readonly pair: PanePair;
  readonly asked: Asked | undefined;
  readonly onRefused: (refusal: RepositoryRefusal) => void;
  readonly onClose: () => void;
  readonly onDelete: () => void;
}

function BrowseDialogs({ pair, asked, onClose, onDelete, onRefused }: BrowseDialogsProps) {
  const start = useStartTransfers(onRefused);
  const { chosen, here, there } = pair;
  switch (asked?.dialog) {
    case undefined:
      return null;
    case 'look':
      return <QuickLook location={here} entry={asked.entry} onClose={onClose} />;
    case 'folder':
      return <NewFolderDialog location={here} onClose={onClose} />;
    case 'delete':
      return <DeleteDialog location={here} chosen={chosen} onClose={onClose} onConfirm={onDelete} />;
    case 'plan':
      return (
        <PlanDialog
          ends={[here, there]}
          onClose={onClose}
          onStart={(order, to) => {
            void start(`${describeLocation(to)} is being synced`, [order]);
            onClose();
          }}
        />
      );
  }
}

/** After a copy, the pane is read again and folder sizes are unknown. */
function useReloadAfterCopies(onEnded: () => void): void {
  const refresh = useRefresh();
  const endings = useEndings();
  const latest = useRef(onEnded);
  latest.current = onEnded;
  useEffect(() => {
    if (endings === 0) return;
    latest.current();
    void refresh('browse.open', 'browse.size');
  }, [endings, refresh]);
}
