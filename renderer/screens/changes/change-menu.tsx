/** The context menu of the rows of Changes. */
import { lazy, type ReactNode, Suspense, useState } from 'react';
import type { ChangeRow } from '../../../engine/api/host/changes.ts';
import { ContextMenu } from '../../design/context-menu.tsx';
import type { MenuAction } from '../../design/menu.tsx';
import { copyText } from '../../shell/copy-text.ts';

const PathHistoryDialog = lazy(async () => ({
  default: (await import('../history/path-history-dialog.tsx')).PathHistoryDialog,
}));

export interface ChangeMenuProps {
  readonly root: string;
  readonly rowAt: (index: number) => ChangeRow | undefined;
  /** The table. */
  readonly children: ReactNode;
}

export function ChangeMenu({ root, rowAt, children }: ChangeMenuProps) {
  const [shown, setShown] = useState<string>();
  return (
    <>
      <ContextMenu
        actionsAt={(element) => {
          const index = Number(element.closest('[aria-rowindex]')?.getAttribute('aria-rowindex') ?? 0) - 1;
          const row = index < 0 ? undefined : rowAt(index);
          return row && { label: `For ${row.path}`, actions: actionsOf(row, setShown) };
        }}
      >
        {children}
      </ContextMenu>
      {shown !== undefined && (
        <Suspense>
          <PathHistoryDialog root={root} path={shown} onClose={() => setShown(undefined)} />
        </Suspense>
      )}
    </>
  );
}

function actionsOf(row: ChangeRow, showHistory: (path: string) => void): readonly MenuAction[] {
  const { below, change, fromPath, kind, path } = row;
  const isNew = change === 'added' && below === undefined;
  const what = kind === 'folder' || below !== undefined ? 'folder' : 'file';
  return [
    {
      id: 'history',
      label: `History of this ${what}...`,
      icon: 'history',
      ...(isNew ? { isDisabled: true, note: 'No commit has it yet' } : {}),
      onAction: () => showHistory(fromPath ?? path),
    },
    { id: 'copy', label: 'Copy the path', icon: 'copy', onAction: () => void copyText(path, 'the path') },
  ];
}
