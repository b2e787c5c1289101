/** One of the two panes: its place, its entries, and its actions. */
import { type ReactNode, type Ref, useRef, useState, useSyncExternalStore } from 'react';
import type { DropItem } from 'react-aria-components';
import type { EntryRow } from '../../../engine/api/host/browse.ts';
import { formatBytes, formatCount, formatPlural } from '../../../engine/api/text/numbers.ts';
import { Button, IconButton, LinkButton } from '../../design/controls/button.tsx';
import { Search, Select } from '../../design/controls/field.tsx';
import { LeavingButton } from '../../design/controls/leaving-button.tsx';
import { EmptyState, Loading, Notice } from '../../design/states.tsx';
import { ErrorNotice, ErrorState } from '../../failures/failure.tsx';
import { hrefOf } from '../../route.ts';
import { Crumbs } from '../crumbs.tsx';
import { S3Dialog } from '../versions/s3-dialog.tsx';
import type { Chosen } from './copy-orders.ts';
import { type DesktopEntry, desktopEntries } from './drops/desktop-entries.ts';
import { type ChosenEntries, NOTHING } from './entries/choice.ts';
import { EntryMenu } from './entries/entry-menu.tsx';
import { EntryTable } from './entries/entry-table.tsx';
import type { Entries } from './entries/use-entries.ts';
import type { FolderSizes } from './entries/use-folder-sizes.ts';
import { chosenIn, type PaneState, type Side } from './pane-state.ts';
import {
  crumbsOf,
  describeLocation,
  isFixed,
  type Location,
  placeOf,
  type Root,
  repositoryName,
  rootKey,
} from './places.ts';
import { RepositoryCounts, RepositoryView } from './repository-view.tsx';
import { type Moves, useMoves } from './use-moves.ts';

/** A drop from the desktop. */
export interface Dropped {
  readonly items: readonly DropItem[];
  /** Undefined in a browser, which reveals no paths. */
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
  readonly onSizes: (chosen: ChosenEntries) => void;
  readonly onEntries: (dragged: Chosen, into: Location) => void;
  readonly onFiles: (dropped: Dropped, into: Location) => void;
}

export function Pane(props: PaneProps) {
  const { state, entries } = props;
  const { location } = state;
  const chosen = chosenIn(state, entries);
  const search = useRef<HTMLInputElement>(null);
  const section = useRef<HTMLElement>(null);
  const dropped = useRef<readonly DesktopEntry[]>(undefined);
  const moves = useMoves({
    pane: section,
    location,
    showsObjects: state.showsObjects === true,
    isLoading: entries.pages === undefined && !entries.error,
    onState: props.onState,
  });
  const open = (entry: EntryRow) =>
    entry.kind === 'folder' ? moves.goDown(entry.path) : props.onLook(entry);
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
          ' ': () => props.onLook(chosen.rows[0]),
          Backspace: () => moves.goUp?.(),
          Delete: props.onDelete,
        }[event.key];
        if (!act || event.ctrlKey || event.metaKey || !isOfList(event.target as Element)) return;
        // As in file managers, Space previews the selected row and unselects nothing.
        if (event.key !== 'Backspace' && chosen.count === 0) return;
        if (event.key === ' ' && chosen.count > 1) return;
        event.preventDefault();
        event.stopPropagation();
        act();
      }}
    >
      <PaneHead {...props} chosen={chosen} moves={moves} search={search} />
      {entries.error && entries.pages && <OldRows entries={entries} error={entries.error} />}
      {entries.isRepository && state.showsObjects && <StoredObjects location={location} />}
      <div className="pane-body">
        {entries.isRepository && !state.showsObjects ? (
          <RepositoryView location={location} onOpen={moves.open} onShowObjects={moves.showObjects} />
        ) : entries.pages ? (
          <EntryMenu
            location={location}
            pages={entries.pages}
            choice={state.choice}
            onChoice={(choice) => props.onState({ choice })}
            onOpen={open}
            onDelete={props.onDelete}
          >
            <EntryTable
              key={placeOf(location)}
              label={describeLocation(location)}
              location={location}
              entries={entries}
              pages={entries.pages}
              sortedBy={state.sortedBy}
              onSort={(sortedBy) => props.onState({ sortedBy })}
              choice={state.choice}
              chosen={chosen}
              onChoice={(choice) => props.onState({ choice })}
              cameFrom={state.cameFrom}
              onSearch={() => search.current?.focus()}
              onOpen={open}
              onEntries={props.onEntries}
              onFiles={(items, into) => props.onFiles({ items, entries: dropped.current }, into)}
              sizes={props.sizes}
              empty={<NoRows {...state} />}
            />
          </EntryMenu>
        ) : entries.error ? (
          <Unreadable location={location} error={entries.error} reload={entries.resume} goUp={moves.goUp} />
        ) : (
          <Loading label="Reading the folder" />
        )}
      </div>
      <PaneFoot chosen={chosen} entries={entries} filter={state.filter}>
        {entries.isRepository && !state.showsObjects && <RepositoryCounts location={location} />}
      </PaneFoot>
    </section>
  );
}

function StoredObjects({ location }: { readonly location: Location }) {
  return (
    <div className="pane-notice">
      <Notice tone="warning">
        These are the stored objects of the repository {repositoryName(location)}.
      </Notice>
    </div>
  );
}

function NoRows({ filter, location }: PaneState) {
  if (filter !== '')
    return (
      <EmptyState icon="search" title="Nothing here">
        No name contains "{filter}".
      </EmptyState>
    );
  return (
    <EmptyState icon="folder" title="An empty folder">
      {!isFixed(location) && 'Drop files here, from the other pane or from your desktop.'}
    </EmptyState>
  );
}

function sideName(side: Side): string {
  return side === 'left' ? 'Left' : 'Right';
}

interface PaneHeadProps extends PaneProps {
  readonly chosen: ChosenEntries;
  readonly moves: Moves;
  readonly search: Ref<HTMLInputElement>;
}

function PaneHead(props: PaneHeadProps) {
  const { chosen, moves, side, state } = props;
  const [isS3Shown, setShown] = useState(false);
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
      <div className="pane-path">
        <div className="pane-crumbs">
          <Crumbs
            label={`Folder of the ${side} pane`}
            crumbs={crumbsOf(location).map((crumb) => ({ key: crumb.location.folder, name: crumb.name }))}
            onGo={(folder) => moves.go({ root: location.root, folder })}
          />
        </div>
        <Search
          label={`Filter names of the ${side} pane`}
          placeholder="Filter names"
          value={state.filter}
          // A choice of everything does not apply to another filter.
          onChange={(filter) =>
            props.onState({ filter, choice: state.choice.kind === 'all' ? NOTHING : state.choice })
          }
          inputRef={props.search}
        />
      </div>
      {isFixed(location) ? (
        <IconButton icon="cloud" label="Read by S3" onPress={() => setShown(true)} />
      ) : (
        <IconButton icon="folderPlus" label="New folder" onPress={props.onMakeFolder} />
      )}
      {isS3Shown && <S3Dialog place={placeOf(location)} onClose={() => setShown(false)} />}
      <IconButton icon="sizes" label="Sizes of folders" onPress={() => props.onSizes(chosen)} />
      <IconButton icon="refresh" label="Refresh" onPress={props.entries.reload} />
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

/** The error above entries that were read before it. */
function OldRows({ entries, error }: { readonly entries: Entries; readonly error: Error }) {
  const again = entries.state === 'failed' ? entries.resume : entries.reload;
  return (
    <div className="pane-notice">
      <ErrorNotice
        error={error}
        lead={
          <strong>
            {entries.state === 'failed' ? 'The list is incomplete.' : 'The list may be out of date.'}
          </strong>
        }
        onMended={again}
        actions={
          <LeavingButton size="small" leadsTo={LIST} onPress={again}>
            Try again
          </LeavingButton>
        }
      />
    </div>
  );
}

/** True for a row, a cell, the grid or the pane; false for the buttons in them. */
function isOfList(element: Element): boolean {
  return element.matches('[role="row"], [role="rowheader"], [role="gridcell"], [role="grid"], .pane');
}

interface PaneFootProps {
  readonly chosen: ChosenEntries;
  readonly entries: Entries;
  readonly filter: string;
  /** Replaces the count of entries. */
  readonly children: ReactNode;
}

function PaneFoot({ chosen, entries, filter, children }: PaneFootProps) {
  const { state } = entries;
  useSyncExternalStore(entries.pages?.subscribe ?? subscribeToNothing, entries.pages?.version ?? zero);
  return (
    <footer className="pane-foot row small faint">
      <span className="grow">{children || footWords(chosen, entries, filter)}</span>
      {state === 'listing' && entries.listed > 0 && (
        <LeavingButton size="small" look="quiet" leadsTo={LIST} onPress={entries.stop}>
          Stop reading
        </LeavingButton>
      )}
      {(state === 'stopped' || (state === 'failed' && entries.pages)) && (
        <LeavingButton size="small" look="quiet" leadsTo={LIST} onPress={entries.resume}>
          Read all
        </LeavingButton>
      )}
    </footer>
  );
}

const LIST = '[role="grid"]';
const subscribeToNothing = () => () => {};
const zero = () => 0;

function footWords(
  { bytes, count }: ChosenEntries,
  { listed, pages, state }: Entries,
  filter: string,
): string {
  if (!pages) return '';
  const shown = pages.total() ?? 0;
  if (count > 0) {
    const size = bytes > 0 ? `, ${formatBytes(bytes)}` : '';
    return `${formatCount(count)} of ${formatCount(shown)} chosen${size}`;
  }
  const all = formatPlural(listed, 'entry', 'entries');
  const words = filter === '' ? all : `${formatCount(shown)} of ${all}`;
  switch (state) {
    case 'listing':
      return `${words} so far, reading`;
    case 'stopped':
    case 'failed':
      return `${words} so far; more are not read yet`;
    case 'cut':
      return `${words}; there are more than a list can hold`;
    default:
      return words;
  }
}

function RootSelect({
  state,
  roots,
  label,
  go,
}: PaneProps & { readonly label: string; readonly go: (location: Location) => void }) {
  const { root: shown } = state.location;
  const current = rootKey(shown);
  const isListed = roots.some((root) => rootKey(root) === current);
  const all = isListed ? roots : [...roots, shown];
  return (
    <div className="pane-root">
      <Select
        label={label}
        isLabelUnseen
        choices={all.map((root) => ({ id: rootKey(root), label: root.label }))}
        value={current}
        onChange={(key) => {
          const root = roots.find((one) => rootKey(one) === key);
          if (root && key !== current) go({ root, folder: root.kind === 'local' ? root.home : '' });
        }}
      />
    </div>
  );
}
