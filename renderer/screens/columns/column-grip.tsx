/** The left edge of a column. A drag or the arrow keys move it; a double click or Enter fits the width. */
import './columns.css';
import { type KeyboardEvent, type PointerEvent, useRef } from 'react';
import { COLUMN_PX_MAX, COLUMN_PX_MIN, type ColumnId } from '../../../engine/api/host/settings.ts';
import type { Columns } from './use-columns.ts';

const STEP_PX = 16;

export interface ColumnGripProps {
  readonly columns: Columns;
  readonly id: ColumnId;
}

export function ColumnGrip({ columns, id }: ColumnGripProps) {
  const start = useRef<{ readonly x: number; readonly widthPx: number }>(undefined);
  const { cells, label } = columns.specs.find((spec) => spec.id === id)!;
  const fitTo = (grip: Element) => {
    columns.resize(id, fittingPx(grip, cells));
    columns.keep();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowLeft') columns.resize(id, columns.widthOf(id) + STEP_PX);
    else if (event.key === 'ArrowRight') columns.resize(id, columns.widthOf(id) - STEP_PX);
    else if (event.key === 'Enter') fitTo(event.currentTarget);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    start.current = { x: event.clientX, widthPx: columns.widthOf(id) };
    event.currentTarget.setPointerCapture(event.pointerId);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a rule that can be moved
    <span
      role="separator"
      aria-orientation="vertical"
      aria-label={`Width of ${label}`}
      aria-valuenow={columns.widthOf(id)}
      aria-valuemin={COLUMN_PX_MIN}
      aria-valuemax={COLUMN_PX_MAX}
      tabIndex={0}
      className="column-grip"
      onPointerDown={onPointerDown}
      onPointerMove={({ clientX }) => {
        if (start.current) columns.resize(id, start.current.widthPx + start.current.x - clientX);
      }}
      onLostPointerCapture={() => {
        start.current = undefined;
        columns.keep();
      }}
      onKeyDown={onKeyDown}
      onKeyUp={columns.keep}
      onBlur={columns.keep}
      onDoubleClick={({ currentTarget }) => fitTo(currentTarget)}
    />
  );
}

/** The widest content among the drawn rows. */
function fittingPx(grip: Element, cells: string): number {
  const table = grip.closest('[data-hides]');
  const range = document.createRange();
  const widths = [...(table?.querySelectorAll(`.${cells}`) ?? [])].map((cell) => {
    const { paddingLeft, paddingRight } = getComputedStyle(cell);
    const parts = [...cell.childNodes].filter((node) => !(node as Element).matches?.('.column-grip'));
    range.selectNodeContents(cell);
    if (parts.length > 0) range.setEndAfter(parts.at(-1)!);
    const content = [...range.getClientRects()].filter(({ width }) => width > 0);
    const left = Math.min(...content.map((rect) => rect.left));
    const right = Math.max(...content.map((rect) => rect.right));
    const widthPx = content.length === 0 ? 0 : right - left;
    return widthPx + Number.parseFloat(paddingLeft) + Number.parseFloat(paddingRight);
  });
  return Math.ceil(Math.max(COLUMN_PX_MIN, ...widths)) + 1;
}
