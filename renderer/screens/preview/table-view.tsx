/** The first rows of a table file, and the differences between two of its versions. */
import './table-view.css';
import { useMemo } from 'react';
import type { TablePreview } from '../../../engine/api/host/file-preview.ts';
import { formatCount, formatPlural } from '../../../engine/api/text/numbers.ts';
import { ChangeMark } from '../../design/badge.tsx';
import { ContentText } from '../../jsx/content-text.ts';
import { diffTables, type TableDifference } from './table-diff.ts';

export function TableView({ table, name }: { readonly table: TablePreview; readonly name: string }) {
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach what scrolls */}
      <section className="table-view" tabIndex={0} aria-label={`Rows of ${name}`}>
        <table>
          <thead>
            <tr>
              {table.columns.map(({ name: column, type }, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: two columns may have one name
                <th key={at} scope="col">
                  {column}
                  <span className="table-type">{type}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {table.rows.map((row, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other name and never move
              <tr key={at}>
                <Cells row={row} />
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <p className="file-preview-note">
        {rowsShown(table)}
        {table.note !== undefined && ` ${table.note}`}
      </p>
    </>
  );
}

function rowsShown({ isCut, rows, rowsTotal }: TablePreview): string {
  const shown = formatPlural(rows.length, 'row');
  if (rowsTotal === undefined)
    return isCut ? `The first ${shown}. The types are taken from these rows.` : `${shown}.`;
  return rowsTotal > rows.length ? `The first ${shown} of ${formatCount(rowsTotal)}.` : `${shown}.`;
}

function Cells({
  row,
  other,
}: {
  readonly row: readonly (string | null)[];
  readonly other?: typeof row | undefined;
}) {
  return row.map((cell, at) => (
    <td
      // biome-ignore lint/suspicious/noArrayIndexKey: the place is what a cell is known by
      key={at}
      className={other && other[at] !== cell ? 'table-changed' : undefined}
    >
      {cell === null ? <span className="table-null">none</span> : <ContentText text={cell} />}
    </td>
  ));
}

export interface TableSidesProps {
  /** Absent: the file was not there. */
  readonly before: TablePreview | undefined;
  readonly after: TablePreview | undefined;
}

export function TableSides({ before, after }: TableSidesProps) {
  const { columns, differences, key, sameRows } = useMemo(() => diffTables(before, after), [before, after]);
  const isCut = before?.isCut === true || after?.isCut === true;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach what scrolls
    <section className="table-view table-sides" tabIndex={0} aria-label="Rows that differ">
      <p className="table-note">
        {key === undefined ? 'Compared by whole rows. ' : `Rows are paired by "${key}". `}
        {formatPlural(differences.length, 'row')} {differences.length === 1 ? 'differs' : 'differ'},{' '}
        {formatPlural(sameRows, 'row')} {sameRows === 1 ? 'is' : 'are'} the same.
        {isCut && ' Only the first rows of each version are compared.'}
        {[before?.note, after?.note].map((note) => note !== undefined && ` ${note}`)}
      </p>
      {differences.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">
                <span className="unseen">Change</span>
              </th>
              {columns.map((column) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {differences.map((difference, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other name and never move
              <DifferenceRows key={at} difference={difference} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function DifferenceRows({ difference: { after, before, is } }: { readonly difference: TableDifference }) {
  return (
    <>
      {before && (
        <tr className="table-before">
          <td>
            {is === 'removed' ? <ChangeMark change="deleted" /> : <span className="small soft">before</span>}
          </td>
          <Cells row={before} other={after} />
        </tr>
      )}
      {after && (
        <tr className="table-after">
          <td>
            {is === 'added' ? <ChangeMark change="added" /> : <span className="small soft">after</span>}
          </td>
          <Cells row={after} other={before} />
        </tr>
      )}
    </>
  );
}
