/** The lines of two texts side by side. */
import './text-sides.css';
import { useMemo, useState } from 'react';
import { formatPlural } from '../../../engine/api/text/numbers.ts';
import { ContentText } from '../../jsx/content-text.ts';
import { type DiffRow, diffLines, foldSame } from './text-diff.ts';

export function TextSides({
  before,
  after,
  isCut,
}: {
  readonly before: string;
  readonly after: string;
  readonly isCut: boolean;
}) {
  const [isWhole, setWhole] = useState(false);
  const rows = useMemo(() => diffLines(before, after), [before, after]);
  const shown = useMemo(() => (isWhole ? rows : foldSame(rows)), [rows, isWhole]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach what scrolls
    <section className="text-sides" tabIndex={0} aria-label="Lines of both sides">
      <table className="text-table">
        <colgroup>
          <col className="text-numbers" />
          <col />
          <col className="text-numbers" />
          <col />
        </colgroup>
        <thead className="unseen">
          <tr>
            <th>Line before</th>
            <th>Before</th>
            <th>Line after</th>
            <th>After</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((row) =>
            'folded' in row ? (
              <tr key={`fold ${row.folded} ${shown.indexOf(row)}`} className="text-fold">
                <td colSpan={4}>
                  <button type="button" onClick={() => setWhole(true)}>
                    {formatPlural(row.folded, 'line')} the same
                  </button>
                </td>
              </tr>
            ) : (
              <TextRow key={`${row.left?.number ?? ''} ${row.right?.number ?? ''}`} row={row} />
            ),
          )}
        </tbody>
      </table>
      {isCut && <p className="text-cut">Only the beginning of the file is compared.</p>}
    </section>
  );
}

function TextRow({ row }: { readonly row: DiffRow }) {
  const isLeft = row.is === 'removed' || row.is === 'changed';
  const isRight = row.is === 'added' || row.is === 'changed';
  return (
    <tr>
      <td className="text-number">{row.left?.number}</td>
      <td className={`text-line ${isLeft ? 'text-removed' : row.left ? '' : 'text-absent'}`}>
        <ContentText text={row.left?.text} />
      </td>
      <td className="text-number">{row.right?.number}</td>
      <td className={`text-line ${isRight ? 'text-added' : row.right ? '' : 'text-absent'}`}>
        <ContentText text={row.right?.text} />
      </td>
    </tr>
  );
}
