/** The context menu of the rows of Changes. */
import type { ReactNode } from 'react';
import type { ChangeRow } from '../../../../engine/api/host/changes.ts';
import { ContextMenu } from '../../../design/overlays/context-menu.tsx';
import { subjectOfChange } from '../../file-menu/file-subject.ts';
import { useFileMenu } from '../../file-menu/use-file-menu.tsx';

export interface ChangeMenuProps {
  readonly root: string;
  readonly isPush: boolean;
  readonly rowAt: (index: number) => ChangeRow | undefined;
  /** The table. */
  readonly children: ReactNode;
}

export function ChangeMenu({ root, isPush, rowAt, children }: ChangeMenuProps) {
  const { dialogs, menuOf } = useFileMenu();
  return (
    <>
      <ContextMenu
        actionsAt={(element) => {
          const index = Number(element.closest('[aria-rowindex]')?.getAttribute('aria-rowindex') ?? 0) - 1;
          const row = index < 0 ? undefined : rowAt(index);
          return row && menuOf(subjectOfChange(root, row, isPush));
        }}
      >
        {children}
      </ContextMenu>
      {dialogs}
    </>
  );
}
