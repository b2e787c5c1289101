/** A row of a grid whose data has not arrived. */
// The rows of a grid that are not drawn cannot be those of a table, and the grid has the focus for all of
// them (aria-activedescendant).
// biome-ignore-all lint/a11y/useSemanticElements: see above
// biome-ignore-all lint/a11y/useFocusableInteractive: see above

export interface WaitingRowProps {
  readonly id: string;
  readonly rowIndex: number;
  readonly topPx: number;
  readonly look: string;
  /** The class of its first cell. */
  readonly cellLook: string;
}

export function WaitingRow({ cellLook, id, look, rowIndex, topPx }: WaitingRowProps) {
  return (
    <div
      id={id}
      role="row"
      aria-rowindex={rowIndex}
      className={look}
      style={{ transform: `translateY(${topPx}px)` }}
    >
      <span role="gridcell" className={cellLook}>
        <span className="row-wait" />
        <span className="unseen">Loading</span>
      </span>
    </div>
  );
}
