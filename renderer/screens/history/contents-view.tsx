/**
 * The contents of a commit, by the list of Browse: folder by folder, or found by name. Entries are previewed,
 * restored into the workspace, and copied out.
 */
import { type RefObject, useRef, useState } from 'react';
import type { EntryRow } from '../../../engine/api/host/browse.ts';
import { formatBytes, formatCount, formatPlural } from '../../../engine/api/text/numbers.ts';
import { Button } from '../../design/controls/button.tsx';
import { Search } from '../../design/controls/field.tsx';
import { LeavingButton } from '../../design/controls/leaving-button.tsx';
import { ContextMenu } from '../../design/overlays/context-menu.tsx';
import { EmptyState, Loading } from '../../design/states.tsx';
import { ErrorState } from '../../failures/failure.tsx';
import { showToast } from '../../shell/toasts/toasts.tsx';
import { useWorkspaces } from '../../shell/use-workspace.ts';
import { chosenFrom } from '../browse/copy-orders.ts';
import { ReplaceDialog } from '../browse/dialogs.tsx';
import { type Choice, type ChosenEntries, chooseOnly, isChosen, NOTHING } from '../browse/entries/choice.ts';
import { EntryTable } from '../browse/entries/entry-table.tsx';
import { type Entries, type SortedBy, useEntries } from '../browse/entries/use-entries.ts';
import type { FolderSizes } from '../browse/entries/use-folder-sizes.ts';
import { chosenIn } from '../browse/pane-state.ts';
import { type Location, placeOf, versionOf } from '../browse/places.ts';
import { useSending } from '../browse/use-sending.ts';
import { Crumbs } from '../crumbs.tsx';
import { subjectOfVersion } from '../file-menu/file-subject.ts';
import { useFileMenu } from '../file-menu/use-file-menu.tsx';
import { CopyOutDialog } from '../versions/copy-out-dialog.tsx';
import { DragOutDialog } from '../versions/drag-out-dialog.tsx';
import { S3Dialog } from '../versions/s3-dialog.tsx';
import { FileDialog } from './file-dialog.tsx';
import { crumbsOfFolder, useFocusInside } from './folder-crumbs.ts';
import { RestoreDialog } from './restore-dialog.tsx';
import { useForgottenNews } from './use-forgotten-news.ts';
import { useTypedSearch } from './use-typed-search.ts';

export interface ContentsViewProps {
  readonly root: string;
  readonly commit: string;
}

export function ContentsView({ root, commit }: ContentsViewProps) {
  const { all } = useWorkspaces();
  const remotes = all?.find((card) => card.root === root)?.remotes;
  const url = remotes?.find(({ isDefault }) => isDefault)?.url;
  if (url === undefined) return <Loading label="Reading the folder" />;
  return <Contents root={root} commit={commit} version={versionOf(url, commit)} />;
}

type Asked =
  | { readonly dialog: 'file'; readonly path: string }
  | { readonly dialog: OfChosen; readonly paths: readonly string[] }
  | { readonly dialog: 's3' };

/** What is done with the chosen entries. Their paths are those of the version. */
type OfChosen = 'restore' | 'copy' | 'drag';

const BY_NAME: SortedBy = { column: 'name', isDescending: false };

interface ContentsProps extends ContentsViewProps {
  readonly version: Location['root'];
}

function Contents({ root, commit, version }: ContentsProps) {
  const [folder, setFolder] = useState('');
  const [sortedBy, setSortedBy] = useState(BY_NAME);
  const [choice, setChoice] = useState<Choice>(NOTHING);
  const [asked, setAsked] = useState<Asked>();
  const input = useRef<HTMLInputElement>(null);
  const { search, text, type } = useTypedSearch(() => setChoice(NOTHING));
  const location: Location = { root: version, folder };
  const entries = useEntries(location, sortedBy, { search });
  useForgottenNews(entries.error);
  const view = useFocusInside(folder, entries.pages === undefined);
  const chosen = chosenIn({ location, sortedBy, filter: '', choice }, entries);
  const go = (next: string): void => {
    setFolder(next);
    setChoice(NOTHING);
    type('');
  };
  const open = ({ kind, path }: EntryRow): void => {
    if (kind === 'folder') go(`${folder}${path}`);
    else setAsked({ dialog: 'file', path: `${folder}${path}` });
  };
  return (
    <div className="compare contents" ref={view}>
      <ContentsHead
        {...{ folder, input, text }}
        onGo={go}
        onType={type}
        onS3={() => setAsked({ dialog: 's3' })}
      />
      {entries.error && (
        <ErrorState title="Cannot read the folder" error={entries.error} onRetry={entries.resume} />
      )}
      {!entries.pages && !entries.error && <Loading label="Reading the folder" />}
      {entries.pages && (
        <ContentsMenu
          {...{ root, commit, folder, entries, choice }}
          onChoice={setChoice}
          onOpen={open}
          onRestore={(paths) => setAsked({ dialog: 'restore', paths })}
        >
          <EntryTable
            key={`${placeOf(location)}\n${search}`}
            label={folder === '' ? 'Contents' : `Contents of ${folder}`}
            location={location}
            entries={entries}
            pages={entries.pages}
            sortedBy={sortedBy}
            onSort={setSortedBy}
            choice={choice}
            chosen={chosen}
            onChoice={setChoice}
            cameFrom={undefined}
            onSearch={() => input.current?.focus()}
            onOpen={open}
            onEntries={() => {}}
            onFiles={() => {}}
            sizes={NO_SIZES}
            empty={<NoEntries search={search} isOver={entries.state === 'done'} />}
            hasTicks
          />
        </ContentsMenu>
      )}
      <ContentsFoot
        chosen={chosen}
        entries={entries}
        isSearch={search !== ''}
        onAsk={(dialog) => {
          const paths = pathsOf(chosen, folder, search);
          if (paths) setAsked({ dialog, paths });
        }}
      />
      <ContentsDialogs {...{ root, commit, location, chosen, asked }} onClose={() => setAsked(undefined)} />
    </div>
  );
}

interface ContentsHeadProps {
  readonly folder: string;
  readonly input: RefObject<HTMLInputElement | null>;
  readonly text: string;
  readonly onGo: (folder: string) => void;
  readonly onType: (text: string) => void;
  readonly onS3: () => void;
}

function ContentsHead({ folder, input, text, onGo, onType, onS3 }: ContentsHeadProps) {
  return (
    <div className="contents-head">
      <Crumbs label="Folder of the commit" crumbs={crumbsOfFolder(folder)} onGo={onGo} />
      <Search
        label="Search names in this folder and below"
        placeholder="Search names"
        value={text}
        onChange={onType}
        inputRef={input}
      />
      <Button icon="cloud" size="small" onPress={onS3}>
        Read by S3
      </Button>
    </div>
  );
}

const NO_SIZES: FolderSizes = new Map();

interface ContentsMenuProps extends ContentsViewProps {
  readonly folder: string;
  readonly entries: Entries;
  readonly choice: Choice;
  readonly onChoice: (choice: Choice) => void;
  readonly onOpen: (entry: EntryRow) => void;
  readonly onRestore: (paths: readonly string[]) => void;
  /** The table. */
  readonly children: React.ReactNode;
}

function ContentsMenu(props: ContentsMenuProps) {
  const { choice, commit, entries, folder, onChoice, onOpen, onRestore, root } = props;
  const { dialogs, menuOf } = useFileMenu();
  const menuAt = (element: Element) => {
    const row = element.closest('[data-entry]');
    // The first row is the head.
    const entry = row ? entries.pages?.rowAt(Number(row.getAttribute('aria-rowindex')) - 2) : undefined;
    if (!entry) return undefined;
    if (!isChosen(choice, entry.path)) onChoice(chooseOnly([entry]));
    const path = `${folder}${entry.path}`;
    const first = [
      {
        id: 'open',
        label: entry.kind === 'folder' ? 'Open' : 'Preview',
        icon: entry.kind === 'folder' ? 'folder' : 'search',
        onAction: () => onOpen(entry),
      },
      { id: 'restore', label: 'Restore it...', icon: 'download', onAction: () => onRestore([path]) },
    ] as const;
    return menuOf(subjectOfVersion(root, path, commit), { first });
  };
  return (
    <>
      <ContextMenu actionsAt={menuAt}>{props.children}</ContextMenu>
      {dialogs}
    </>
  );
}

function NoEntries({ search, isOver }: { readonly search: string; readonly isOver: boolean }) {
  if (search === '') return <EmptyState icon="folder" title="An empty folder" />;
  if (!isOver) return <Loading label="Searching" />;
  return (
    <EmptyState icon="search" title="Nothing found">
      No name below this folder contains "{search}".
    </EmptyState>
  );
}

const LIST = '.contents [role="grid"]';

interface ContentsFootProps {
  readonly chosen: ChosenEntries;
  readonly entries: Entries;
  readonly isSearch: boolean;
  readonly onAsk: (dialog: OfChosen) => void;
}

function ContentsFoot({ chosen, entries, isSearch, onAsk }: ContentsFootProps) {
  const isNone = chosen.count === 0;
  return (
    <footer className="contents-foot row">
      <span className="grow small soft" role="status">
        {footWords(chosen, entries, isSearch)}
      </span>
      {entries.state === 'listing' && (
        <LeavingButton size="small" look="quiet" leadsTo={LIST} onPress={entries.stop}>
          Stop reading
        </LeavingButton>
      )}
      {entries.state === 'stopped' && (
        <LeavingButton size="small" look="quiet" leadsTo={LIST} onPress={entries.resume}>
          Read on
        </LeavingButton>
      )}
      {window.dray && (
        <Button size="small" icon="grip" isDisabled={isNone} onPress={() => onAsk('drag')}>
          Drag out...
        </Button>
      )}
      <Button size="small" icon="copy" isDisabled={isNone} onPress={() => onAsk('copy')}>
        Copy out...
      </Button>
      <Button size="small" icon="history" look="primary" isDisabled={isNone} onPress={() => onAsk('restore')}>
        Restore...
      </Button>
    </footer>
  );
}

function footWords({ bytes, count }: ChosenEntries, { listed, state }: Entries, isSearch: boolean): string {
  const size = bytes > 0 ? `, ${formatBytes(bytes)}` : '';
  if (count > 0) return `${formatCount(count)} of ${formatCount(listed)} chosen${size}`;
  const all = `${formatPlural(listed, 'entry', 'entries')}${isSearch ? ' found' : ''}`;
  switch (state) {
    case 'done':
      return all;
    case 'cut':
      return `${all}; there are more than a list can hold`;
    case 'stopped':
    case 'failed':
      return `${all} so far; more are not read yet`;
    default:
      return `${all} so far, reading`;
  }
}

/** Undefined if the choice has no names: it is of a long list, and not of a whole folder. */
function pathsOf(
  { all, rows }: ChosenEntries,
  folder: string,
  search: string,
): readonly string[] | undefined {
  if (!all) return rows.map(({ path }) => `${folder}${path}`);
  if (search === '' && all.except.length === 0) return [folder === '' ? '.' : folder];
  showToast({
    tone: 'info',
    title: 'These are too many to name one by one',
    text: 'Choose fewer, or a whole folder.',
  });
  return undefined;
}

interface ContentsDialogsProps extends ContentsViewProps {
  readonly location: Location;
  readonly chosen: ChosenEntries;
  readonly asked: Asked | undefined;
  readonly onClose: () => void;
}

function ContentsDialogs({ root, commit, location, chosen, asked, onClose }: ContentsDialogsProps) {
  const sending = useSending(({ name }) =>
    showToast({
      tone: 'danger',
      title: `${name} is a Dray repository`,
      text: 'Nothing was copied into it. Choose another folder.',
    }),
  );
  if (sending.replacing)
    return <ReplaceDialog key={sending.replacing.id} {...sending.replacing} onClose={sending.forget} />;
  switch (asked?.dialog) {
    case undefined:
      return null;
    case 'file':
      return <FileDialog root={root} after={{ path: asked.path, commit }} onClose={onClose} />;
    case 'restore': {
      const [path = '.', ...more] = asked.paths;
      return <RestoreDialog root={root} file={{ path, commit }} more={more} onClose={onClose} />;
    }
    case 'drag':
      return (
        <DragOutDialog
          place={placeOf(location)}
          // A drag begins at the open folder.
          paths={chosen.all ? ['.'] : chosen.rows.map(({ path }) => path)}
          onClose={onClose}
        />
      );
    case 's3': {
      const [only, ...others] = chosen.rows;
      // S3 has no links, so a link has no key.
      const isOne = only && only.kind !== 'link' && others.length === 0 && !chosen.all;
      const entry = isOne ? only.path : '';
      return <S3Dialog place={placeOf(location, entry)} onClose={onClose} />;
    }
    case 'copy':
      return (
        <CopyOutDialog
          count={chosen.count}
          onCopy={(into) => sending.copy(chosenFrom(location, chosen), into)}
          onClose={onClose}
        />
      );
  }
}
