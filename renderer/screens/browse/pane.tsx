/** One of the two panes: where it stands, what is there, and what can be done with it. */
import type { DropItem } from 'react-aria-components';
import type { EntryRow } from '../../../engine/api/host.ts';
import { IconButton } from '../../design/button.tsx';
import { Select } from '../../design/field.tsx';
import { formatBytes, formatCount, formatPlural } from '../../design/format.ts';
import { EmptyState, ErrorState, Loading } from '../../design/states.tsx';
import { Crumbs } from '../crumbs.tsx';
import { type DraggedEntries, EntryTable, type FolderSize } from './entry-table.tsx';
import { below, crumbsOf, describeLocation, type Location, parentOf, placeOf, type Root } from './places.ts';
import type { Entries, SortedBy } from './use-entries.ts';

export interface PaneState {
  readonly location: Location;
  readonly sortedBy: SortedBy;
  readonly selected: ReadonlySet<string>;
}

export interface PaneProps {
  readonly side: 'left' | 'right';
  readonly isActive: boolean;
  readonly state: PaneState;
  readonly entries: Entries;
  readonly roots: readonly Root[];
  readonly sizes: ReadonlyMap<string, FolderSize | 'asked'>;
  readonly onState: (change: Partial<PaneState>) => void;
  readonly onActive: () => void;
  readonly onLook: (entry: EntryRow) => void;
  readonly onMakeFolder: () => void;
  readonly onSizes: () => void;
  readonly onEntries: (dragged: DraggedEntries, into: Location) => void;
  readonly onFiles: (items: readonly DropItem[], into: Location) => void;
}

export function Pane(props: PaneProps) {
  const { state, entries, side } = props;
  const { location } = state;
  const parent = parentOf(location);
  const go = (next: Location): void => props.onState({ location: next, selected: new Set() });
  const name = side === 'left' ? 'Left' : 'Right';
  return (
    <section
      className={`pane ${props.isActive ? 'is-active' : ''}`}
      aria-label={`${name} pane, ${describeLocation(location)}`}
      onFocusCapture={props.onActive}
      onKeyDownCapture={(event) => {
        if (event.key !== 'Backspace' || !parent || event.target instanceof HTMLInputElement) return;
        event.preventDefault();
        go(parent);
      }}
    >
      <header className="pane-head">
        <RootSelect {...props} label={`${name} pane shows`} go={go} />
        <IconButton
          icon="arrowUp"
          label="Folder above"
          isDisabled={!parent}
          onPress={() => parent && go(parent)}
        />
        <div className="pane-crumbs">
          <Crumbs
            label={`Folder of the ${side} pane`}
            crumbs={crumbsOf(location).map((crumb) => ({ key: crumb.location.folder, name: crumb.name }))}
            onGo={(folder) => go({ root: location.root, folder })}
          />
        </div>
        <IconButton icon="plus" label="New folder" onPress={props.onMakeFolder} />
        <IconButton icon="info" label="Sizes of folders" onPress={props.onSizes} />
        <IconButton icon="refresh" label="Read again" onPress={entries.reload} />
      </header>
      <div className="pane-body">
        {entries.isLoading ? (
          <Loading label="Reading the folder" />
        ) : entries.error && entries.rows.length === 0 ? (
          <ErrorState title="The folder cannot be read" error={entries.error} onRetry={entries.reload} />
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
            onOpen={(entry) =>
              entry.kind === 'folder' ? go(below(location, entry.path)) : props.onLook(entry)
            }
            onEntries={props.onEntries}
            onFiles={props.onFiles}
            sizes={props.sizes}
            empty={
              <EmptyState icon="folder" title="An empty folder">
                Drop files here, from the other pane or from your desktop.
              </EmptyState>
            }
          />
        )}
      </div>
      <footer className="pane-foot small faint">{footWords(state, entries)}</footer>
    </section>
  );
}

function footWords({ selected, sortedBy }: PaneState, entries: Entries): string {
  const chosen = entries.rows.filter((row) => selected.has(row.path));
  const bytes = chosen.reduce((sum, row) => sum + row.sizeBytes, 0);
  if (chosen.length > 0)
    return `${formatCount(chosen.length)} of ${formatCount(entries.rows.length)} chosen${bytes > 0 ? `, ${formatBytes(bytes)}` : ''}`;
  const count = formatPlural(entries.rows.length, 'entry', 'entries');
  if (!entries.isMore) return count;
  return sortedBy.column === 'name' ? `${count} so far` : `${count} so far, sorted among these`;
}

function RootSelect({
  state,
  roots,
  label,
  go,
}: PaneProps & { readonly label: string; readonly go: (location: Location) => void }) {
  const keyOf = (root: Root): string => placeOf({ root, folder: '' });
  const current = keyOf(state.location.root);
  return (
    <div className="pane-root">
      <Select
        label={label}
        isLabelUnseen
        choices={roots.map((root) => ({ id: keyOf(root), label: root.label }))}
        value={current}
        onChange={(key) => {
          const root = roots.find((one) => keyOf(one) === key);
          if (root && key !== current) go({ root, folder: root.kind === 'local' ? root.home : '' });
        }}
      />
    </div>
  );
}
