/** The context menu of the rows of a pane. */
import type { ReactNode } from 'react';
import type { EntryRow } from '../../../../engine/api/host/browse.ts';
import { ContextMenu } from '../../../design/overlays/context-menu.tsx';
import type { MenuAction } from '../../../design/overlays/menu.tsx';
import { useAsk } from '../../../host/use-host.tsx';
import { subjectOfEntry } from '../../file-menu/file-subject.ts';
import { useFileMenu } from '../../file-menu/use-file-menu.tsx';
import type { Location } from '../places.ts';
import { type Choice, chooseOnly, isChosen } from './choice.ts';
import type { Entries } from './use-entries.ts';

export interface EntryMenuProps {
  readonly location: Location;
  readonly pages: Entries['pages'];
  readonly choice: Choice;
  readonly onChoice: (choice: Choice) => void;
  readonly onOpen: (entry: EntryRow) => void;
  readonly onDelete: () => void;
  /** The table. */
  readonly children: ReactNode;
}

export function EntryMenu(props: EntryMenuProps) {
  const { children, choice, location, onChoice, pages } = props;
  const { data } = useAsk('home.list', {}, { freshMs: 30_000 });
  const { dialogs, menuOf } = useFileMenu();
  return (
    <>
      <ContextMenu
        actionsAt={(element) => {
          const row = element.closest('[data-entry]');
          // The first row is the head.
          const entry = row ? pages?.rowAt(Number(row.getAttribute('aria-rowindex')) - 2) : undefined;
          if (!entry) return undefined;
          // As in file managers, the menu applies to the chosen rows only if it opens on one of them.
          if (!isChosen(choice, entry.path)) onChoice(chooseOnly([entry]));
          return menuOf(
            subjectOfEntry(location, entry.path, data?.workspaces ?? []),
            ownActions(entry, props),
          );
        }}
      >
        {children}
      </ContextMenu>
      {dialogs}
    </>
  );
}

function ownActions(entry: EntryRow, { onDelete, onOpen }: EntryMenuProps) {
  const isFolder = entry.kind === 'folder';
  const open: MenuAction = {
    id: 'open',
    label: isFolder ? 'Open' : 'Quick look',
    icon: isFolder ? 'folder' : 'search',
    onAction: () => onOpen(entry),
  };
  const remove: MenuAction = {
    id: 'delete',
    label: 'Delete...',
    icon: 'trash',
    isDanger: true,
    onAction: onDelete,
  };
  return { first: [open], last: [remove] };
}
