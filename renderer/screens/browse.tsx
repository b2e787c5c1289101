/** Two panes, this computer and any remote: browse, copy between them, sync them. */
import './browse.css';
import { useEffect, useRef, useState } from 'react';
import type { EntryRow } from '../../engine/api/host/browse.ts';
import { formatPlural } from '../../engine/api/numbers.ts';
import { Button } from '../design/button.tsx';
import { Screen } from '../design/screen.tsx';
import { Loading } from '../design/states.tsx';
import { ErrorNotice, ErrorState } from '../failures/failure.tsx';
import { useAsk, useEndings, useRefresh } from '../host/use-host.tsx';
import { useRoute } from '../route.ts';
import { BrowseActions } from './browse/browse-actions.tsx';
import { chosenFrom } from './browse/copy-orders.ts';
import { DeleteDialog, NewFolderDialog, QuickLook, ReplaceDialog } from './browse/dialogs.tsx';
import { DropReport } from './browse/drop-report.tsx';
import { Pane, type Side } from './browse/pane.tsx';
import {
  describeLocation,
  isSameLocation,
  type Location,
  linkedRoot,
  localLocation,
  nameOf,
  placeOf,
  rootsOf,
} from './browse/places.ts';
import { PlanDialog } from './browse/plan-dialog.tsx';
import { useFolderSizes } from './browse/use-folder-sizes.ts';
import { type PanePair, type PanesStart, usePanePair } from './browse/use-pane-pair.ts';
import { useRemoval } from './browse/use-removal.ts';
import { useSending } from './browse/use-sending.ts';
import { useStartTransfers } from './start-transfer.ts';

/** The open dialog. */
type Asked =
  | { readonly dialog: 'look'; readonly entry: EntryRow }
  | { readonly dialog: 'delete' | 'folder' | 'plan' };

export function BrowseScreen() {
  const { given } = useRoute();
  const home = useAsk('home.listFolders', {}, { freshMs: 600_000 });
  const remotes = useAsk('remotes.list', {});
  if (home.isPending || remotes.isPending) {
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
  const local = localLocation(home.data.folder);
  const roots = rootsOf(local.root, remotes.data.remotes);
  if (given.place === undefined) return <Panes local={local} roots={roots} right={given.remote} />;
  // A place from a link: shown for now, not saved.
  const linked = linkedRoot(roots, given.place);
  return (
    <Panes
      key={given.place}
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
  const sending = useSending();
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
      onDelete={() => setAsked({ dialog: 'delete' })}
      onMakeFolder={() => {
        pair.activate(side);
        setAsked({ dialog: 'folder' });
      }}
      onSizes={() => sizes.measure(pair.entries[side].rows, pair.states[side])}
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
          isDeleting={remove.isPending}
          onLook={() => look(chosen[0])}
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
        <RemovalError removal={remove} />
        <DropReport />
      </div>
      <BrowseDialogs
        pair={pair}
        asked={asked}
        onClose={() => setAsked(undefined)}
        onDelete={() => {
          remove.mutate(chosen.map(({ path }) => placeOf(here, path)));
          sizes.forget();
          pair.change(active, { selected: new Set() });
        }}
      />
      {sending.replacing && (
        <ReplaceDialog key={sending.replacing.id} {...sending.replacing} onClose={sending.forget} />
      )}
    </Screen>
  );
}

function chosenNote(chosen: readonly EntryRow[], here: Location): string {
  const [first] = chosen;
  if (!first) return 'Choose files, then drag or copy them to the other pane.';
  const what = chosen.length === 1 ? nameOf(first.path) : formatPlural(chosen.length, 'entry', 'entries');
  return `${what} in ${describeLocation(here)}`;
}

function RemovalError({ removal }: { readonly removal: ReturnType<typeof useRemoval> }) {
  if (!removal.error) return null;
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

interface BrowseDialogsProps {
  readonly pair: PanePair;
  readonly asked: Asked | undefined;
  readonly onClose: () => void;
  readonly onDelete: () => void;
}

function BrowseDialogs({ pair, asked, onClose, onDelete }: BrowseDialogsProps) {
  const start = useStartTransfers();
  const { active, chosen, entries, here, there } = pair;
  switch (asked?.dialog) {
    case undefined:
      return null;
    case 'look':
      return <QuickLook location={here} entry={asked.entry} onClose={onClose} />;
    case 'folder':
      return (
        <NewFolderDialog
          location={here}
          taken={new Set(entries[active].rows.map(({ path }) => nameOf(path)))}
          onClose={onClose}
        />
      );
    case 'delete':
      return <DeleteDialog location={here} entries={chosen} onClose={onClose} onConfirm={onDelete} />;
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
    void refresh('browse.list', 'browse.size');
  }, [endings, refresh]);
}
