/** The head of a table: the names and edges of its columns. Its menu shows and hides them. */
import type { ReactNode } from 'react';
import { ContextMenu } from '../../design/overlays/context-menu.tsx';
import { ColumnGrip } from './column-grip.tsx';
import type { Columns } from './use-columns.ts';

export interface ColumnHeadProps {
  readonly columns: Columns;
  readonly className: string;
  /** The first column, which takes the remaining width. */
  readonly children: ReactNode;
}

/** Takes the focus itself while no edge is there that could, so its menu always opens by a key. */
export function ColumnHead({ columns, className, children }: ColumnHeadProps) {
  return (
    <ContextMenu actionsAt={() => columns.menu}>
      {/* biome-ignore lint/a11y/useSemanticElements: no fields, but the edges of columns */}
      <div className={className} role="group" aria-label="Columns" tabIndex={columns.areAllHidden ? 0 : -1}>
        {children}
        {columns.specs.map(({ id, label, cells }) => (
          <span key={id} className={cells}>
            {label}
            <ColumnGrip columns={columns} id={id} />
          </span>
        ))}
      </div>
    </ContextMenu>
  );
}
