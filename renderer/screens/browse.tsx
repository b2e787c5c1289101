/** Two panes, this computer and any remote: browse, copy between them, sync them. */
import './browse.css';
import { useEffect, useRef, useState } from 'react';
import type { EntryRow } from '../../engine/api/host.ts';
import { formatPlural } from '../../engine/api/numbers.ts';
import { Button } from '../design/button.tsx';
import { Screen } from '../design/screen.tsx';
import { Loading } from '../design/states.tsx';
import { ErrorNotice, ErrorState } from '../failures/failure.tsx';
import { useAsk, useEndings, useRefresh } from '../host/use-host.tsx';
import { useRoute } from '../route.ts';
import { showToast } from '../shell/toasts.tsx';
import { BrowseActions } from './browse/browse-actions.tsx';
import { chosenFrom } from './browse/copy-orders.ts';
import { DeleteDialog, NewFolderDialog, QuickLook, ReplaceDialog } from './browse/dialogs.tsx';
import { DropReport } from './browse/drop-report.tsx';
import { Pane, type PaneState } from './browse/pane.tsx';
import {
  describeLocation,
  isSameLocation,
  type Location,
  linkedRoot,
  localLocation,
  nameOf,
  placeOf,
  type Root,
  rootsOf,
} from './browse/places.ts';
import { PlanDialog } from './browse/plan-dialog.tsx';
import { useEntries } from './browse/use-entries.ts';
import { useFolderSizes } from './browse/use-folder-sizes.ts';
import { useRemoval } from './browse/use-removal.ts';
import { useSending } from './browse/use-sending.ts';
import { useStartTransfers } from './start-transfer.ts';

const SIZED_MAX = 100;

type Side = 'left' | 'right';
type Asked = 'look' | 'delete' | 'folder' | 'plan';

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

interface PanesProps {
  readonly local: Location;
  readonly roots: readonly Root[];
  /** The label of the root on the right. */
  readonly right: string | undefined;
}

function Panes({ local, roots, right }: PanesProps) {
  const [panes, setPanes] = useState<Readonly<Record<Side, PaneState>>>(() => ({
    left: paneAt(local),
    right: paneAt(rightStart(local, roots, right)),
  }));
  const [active, setActive] = useState<Side>('left');
  const [asked, setAsked] = useState<Asked>();
  const [looked, setLooked] = useState<EntryRow>();
  const [sized, setSized] = useState<ReadonlySet<string>>(new Set());
  const entries = {
    left: useEntries(panes.left.location, panes.left.sortedBy),
    right: useEntries(panes.right.location, panes.right.sortedBy),
  };
  const sizes = useFolderSizes(sized);
  const sending = useSending();
  const start = useStartTransfers();
  const remove = useRemoval();

  useReloadAfterCopies(() => setSized(new Set()));

  const other: Side = active === 'left' ? 'right' : 'left';
  const here = panes[active].location;
  const there = panes[other].location;
  const chosen = entries[active].rows.filter(({ path }) => panes[active].selected.has(path));
  const change = (side: Side, next: Partial<PaneState>): void =>
    setPanes((before) => ({ ...before, [side]: { ...before[side], ...next } }));
  const look = (entry: EntryRow | undefined): void => {
    if (!entry || entry.kind === 'folder') return;
    setLooked(entry);
    setAsked('look');
  };
  /** Of the chosen folders, or of all if none is chosen. Each takes a listing of everything below it. */
  const measure = (side: Side): void => {
    const { location, selected } = panes[side];
    const folders = entries[side].rows.filter(({ kind }) => kind === 'folder');
    const wanted = folders.filter(({ path }) => selected.has(path));
    const all = wanted.length > 0 ? wanted : folders;
    if (all.length > SIZED_MAX)
      showToast({
        tone: 'info',
        title: `Counting the first ${SIZED_MAX} folders`,
        text: 'Choose other folders to count those.',
      });
    const counted = all.slice(0, SIZED_MAX).map(({ path }) => placeOf(location, path));
    setSized(new Set([...sized, ...counted]));
  };
  const close = (): void => setAsked(undefined);

  const pane = (side: Side) => (
    <Pane
      side={side}
      isActive={side === active}
      state={panes[side]}
      entries={entries[side]}
      roots={roots}
      sizes={sizes}
      onState={(next) => change(side, next)}
      onActive={() => setActive(side)}
      onLook={look}
      onDelete={() => setAsked('delete')}
      onMakeFolder={() => {
        setActive(side);
        setAsked('folder');
      }}
      onSizes={() => measure(side)}
      onEntries={sending.copy}
      onFiles={sending.take}
    />
  );
  return (
    <Screen
      title="Browse"
      isFull
      note={
        chosen.length === 0
          ? 'Choose files, then drag or copy them to the other pane.'
          : `${chosen.length === 1 ? nameOf(chosen[0]!.path) : formatPlural(chosen.length, 'entry', 'entries')} in ${describeLocation(here)}`
      }
      actions={
        <BrowseActions
          chosen={chosen}
          other={other}
          isBothSame={isSameLocation(here, there)}
          isDeleting={remove.isPending}
          onLook={() => look(chosen[0])}
          onDelete={() => setAsked('delete')}
          onCopy={() => sending.copy(chosenFrom(here, chosen), there)}
          onPlan={() => setAsked('plan')}
        />
      }
    >
      <div className="browse">
        <div className="panes">
          {pane('left')}
          {pane('right')}
        </div>
        {remove.error && (
          <ErrorNotice
            error={remove.error}
            actions={
              <Button size="small" onPress={remove.reset}>
                Close
              </Button>
            }
          />
        )}
        <DropReport />
      </div>
      {asked === 'look' && looked && <QuickLook location={here} entry={looked} onClose={close} />}
      {asked === 'folder' && (
        <NewFolderDialog
          location={here}
          taken={new Set(entries[active].rows.map(({ path }) => nameOf(path)))}
          onClose={close}
        />
      )}
      {asked === 'delete' && (
        <DeleteDialog
          location={here}
          entries={chosen}
          onClose={close}
          onConfirm={() => {
            remove.mutate(chosen.map(({ path }) => placeOf(here, path)));
            setSized(new Set());
            change(active, { selected: new Set() });
          }}
        />
      )}
      {sending.replacing && (
        <ReplaceDialog key={sending.replacing.id} {...sending.replacing} onClose={sending.forget} />
      )}
      {asked === 'plan' && (
        <PlanDialog
          ends={[here, there]}
          onClose={close}
          onStart={(order, to) => {
            void start(`${describeLocation(to)} is being synced`, [order]);
            close();
          }}
        />
      )}
    </Screen>
  );
}

/** The requested remote, else one of the user's own, else any, else this computer. */
function rightStart(local: Location, roots: readonly Root[], asked: string | undefined): Location {
  const remotes = roots.filter(({ kind }) => kind !== 'local');
  const root =
    remotes.find(({ label }) => label === asked) ??
    remotes.find(({ kind }) => kind === 'named') ??
    remotes[0];
  return root ? { root, folder: '' } : local;
}

function paneAt(location: Location): PaneState {
  return { location, sortedBy: { column: 'name', isDescending: false }, selected: new Set() };
}

/** After a copy, the pane is read again and folder sizes are unknown. */
function useReloadAfterCopies(onEnded: () => void): void {
  const refresh = useRefresh();
  const endings = useEndings();
  const told = useRef(onEnded);
  told.current = onEnded;
  useEffect(() => {
    if (endings === 0) return;
    told.current();
    void refresh('browse.list', 'browse.size');
  }, [endings, refresh]);
}
