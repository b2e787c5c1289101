/** One of the two panes: its place, its entries, and its actions. */
import { useRef } from 'react';
import type { DropItem } from 'react-aria-components';
import type { EntryRow } from '../../../engine/api/host/browse.ts';
import { formatBytes, formatCount, formatPlural } from '../../../engine/api/numbers.ts';
import { Button, IconButton, LinkButton } from '../../design/button.tsx';
import { Select } from '../../design/field.tsx';
import { EmptyState, Loading } from '../../design/states.tsx';
import { ErrorNotice, ErrorState } from '../../failures/failure.tsx';
import { hrefOf } from '../../route.ts';
import { Crumbs } from '../crumbs.tsx';
import type { Chosen } from './copy-orders.ts';
import { type DesktopEntry, desktopEntries } from './desktop-entries.ts';
import { EntryTable } from './entry-table.tsx';
import { crumbsOf, describeLocation, type Location, placeOf, type Root, rootKey } from './places.ts';
import type { Entries, SortedBy } from './use-entries.ts';
import type { FolderSizes } from './use-folder-sizes.ts';
import { type Moves, useMoves } from './use-moves.ts';

export type Side = 'left' | 'right';

export interface PaneState {
  readonly location: Location;
  readonly sortedBy: SortedBy;
  readonly selected: ReadonlySet<string>;
}

/** From the desktop. */
export interface Dropped {
  readonly items: readonly DropItem[];
  /** Only if the window knows paths. */
  readonly entries: readonly DesktopEntry[] | undefined;
}

export interface PaneProps {
  readonly side: Side;
  readonly isActive: boolean;
  readonly state: PaneState;
  readonly entries: Entries;
  readonly roots: readonly Root[];
  readonly sizes: FolderSizes;
  readonly onState: (change: Partial<PaneState>) => void;
  readonly onActive: () => void;
  readonly onLook: (entry: EntryRow | undefined) => void;
  readonly onDelete: () => void;
  readonly onMakeFolder: () => void;
  readonly onSizes: () => void;
  readonly onEntries: (dragged: Chosen, into: Location) => void;
  readonly onFiles: (dropped: Dropped, into: Location) => void;
}

export function Pane(props: PaneProps) {
  const { state, entries } = props;
  const { location } = state;
  const chosen = entries.rows.filter(({ path }) => state.selected.has(path));
  const section = useRef<HTMLElement>(null);
  const dropped = useRef<readonly DesktopEntry[]>(undefined);
  const moves = useMoves({
    pane: section,
    location,
    isLoading: entries.isLoading,
    onState: props.onState,
  });
  return (
    <section
      ref={section}
      tabIndex={-1}
      className={`pane ${props.isActive ? 'is-active' : ''}`}
      aria-label={`${sideName(props.side)} pane, ${describeLocation(location)}`}
      onFocusCapture={props.onActive}
      onDropCapture={({ dataTransfer }) => {
        dropped.current = desktopEntries(dataTransfer, window.dray?.pathOf);
      }}
      onKeyDownCapture={(event) => {
        const act = {
          ' ': () => props.onLook(chosen[0]),
          Backspace: () => moves.goUp?.(),
          Delete: props.onDelete,
        }[event.key];
        if (!act || event.ctrlKey || event.metaKey || !isOfList(event.target as Element)) return;
        // As in file managers, Space previews the selected row and unselects nothing.
        if (event.key !== 'Backspace' && chosen.length === 0) return;
        if (event.key === ' ' && chosen.length > 1) return;
        event.preventDefault();
        event.stopPropagation();
        act();
      }}
    >
      <PaneHead {...props} moves={moves} />
      {entries.error && entries.rows.length > 0 && <OldRows entries={entries} error={entries.error} />}
      <div className="pane-body">
        {entries.isLoading ? (
          <Loading label="Reading the folder" />
        ) : entries.error && entries.rows.length === 0 ? (
          <Unreadable location={location} error={entries.error} reload={entries.reload} goUp={moves.goUp} />
        ) : (
          <EntryTable
            key={placeOf(location)}
            label={describeLocation(location)}
            location={location}
            entries={entries}
            sortedBy={state.sortedBy}
            onSort={(sortedBy) => props.onState({ sortedBy })}
            selected={state.selected}
            onSelect={(selected) => props.onState({ selected })}
            onOpen={(entry) => (entry.kind === 'folder' ? moves.goDown(entry.path) : props.onLook(entry))}
            onEntries={props.onEntries}
            onFiles={(items, into) => props.onFiles({ items, entries: dropped.current }, into)}
            sizes={props.sizes}
            empty={
              <EmptyState icon="folder" title="An empty folder">
                Drop files here, from the other pane or from your desktop.
              </EmptyState>
            }
          />
        )}
      </div>
      <PaneFoot chosen={chosen} entries={entries} />
    </section>
  );
}

function sideName(side: Side): string {
  return side === 'left' ? 'Left' : 'Right';
}

function PaneHead(props: PaneProps & { readonly moves: Moves }) {
  const { moves, side } = props;
  const { location } = props.state;
  return (
    <header className="pane-head">
      <RootSelect {...props} label={`${sideName(side)} pane shows`} go={moves.go} />
      <IconButton
        icon="arrowUp"
        label="Folder above"
        isDisabled={!moves.goUp}
        onPress={() => moves.goUp?.()}
      />
      <div className="pane-crumbs">
        <Crumbs
          label={`Folder of the ${side} pane`}
          crumbs={crumbsOf(location).map((crumb) => ({ key: crumb.location.folder, name: crumb.name }))}
          onGo={(folder) => moves.go({ root: location.root, folder })}
        />
      </div>
      <IconButton icon="folderPlus" label="New folder" onPress={props.onMakeFolder} />
      <IconButton icon="sizes" label="Sizes of folders" onPress={props.onSizes} />
      <IconButton icon="refresh" label="Read again" onPress={props.entries.reload} />
    </header>
  );
}

interface UnreadableProps extends Pick<Moves, 'goUp'>, Pick<Entries, 'reload'> {
  readonly location: Location;
  readonly error: Error;
}

function Unreadable({ location, error, reload, goUp }: UnreadableProps) {
  return (
    <ErrorState
      title="Cannot read the folder"
      error={error}
      onRetry={reload}
      actions={
        goUp ? (
          <Button icon="arrowUp" onPress={goUp}>
            Folder above
          </Button>
        ) : location.root.kind === 'local' ? undefined : (
          <LinkButton icon="remotes" href={hrefOf('remotes')}>
            See your remotes
          </LinkButton>
        )
      }
    />
  );
}

/** Shown entries stay when more of them, or newer ones, could not be read. */
function OldRows({ entries, error }: { readonly entries: Entries; readonly error: Error }) {
  return (
    <div className="pane-notice">
      <ErrorNotice
        error={error}
        lead={
          <strong>{entries.isMoreFailed ? 'The list is incomplete.' : 'The list may be out of date.'}</strong>
        }
        onMended={entries.retry}
        actions={
          <Button size="small" onPress={entries.retry}>
            Try again
          </Button>
        }
      />
    </div>
  );
}

/** A row or one of its cells, not their buttons; also the list or the pane itself if they have no rows. */
function isOfList(element: Element): boolean {
  return element.matches('[role="row"], [role="rowheader"], [role="gridcell"], [role="grid"], .pane');
}

interface PaneFootProps {
  readonly chosen: readonly EntryRow[];
  readonly entries: Entries;
}

function PaneFoot({ chosen, entries }: PaneFootProps) {
  return (
    <footer className="pane-foot row small faint">
      <span className="grow">{footWords(chosen, entries)}</span>
      {entries.isMore && (
        <Button size="small" look="quiet" isDisabled={entries.isLoadingAll} onPress={entries.loadAll}>
          {entries.isLoadingAll ? 'Reading all' : 'Read all'}
        </Button>
      )}
    </footer>
  );
}

/** Rows that are not loaded yet may sort before the loaded ones. */
function footWords(chosen: readonly EntryRow[], entries: Entries): string {
  if (entries.isLoading || (entries.error && entries.rows.length === 0)) return '';
  const bytes = chosen.reduce((sum, row) => sum + row.sizeBytes, 0);
  if (chosen.length > 0) {
    const size = bytes > 0 ? `, ${formatBytes(bytes)}` : '';
    return `${formatCount(chosen.length)} of ${formatCount(entries.rows.length)} chosen${size}`;
  }
  const count = formatPlural(entries.rows.length, 'entry', 'entries');
  return entries.isMore ? `${count} so far, sorted; more are not loaded yet` : count;
}

function RootSelect({
  state,
  roots,
  label,
  go,
}: PaneProps & { readonly label: string; readonly go: (location: Location) => void }) {
  const current = rootKey(state.location.root);
  return (
    <div className="pane-root">
      <Select
        label={label}
        isLabelUnseen
        choices={roots.map((root) => ({ id: rootKey(root), label: root.label }))}
        value={current}
        onChange={(key) => {
          const root = roots.find((one) => rootKey(one) === key);
          if (root && key !== current) go({ root, folder: root.kind === 'local' ? root.home : '' });
        }}
      />
    </div>
  );
}
