/** How many changes of each kind there are, and their bytes. */
import { formatBytes, formatCount } from '../../../engine/api/text/numbers.ts';
import { changeWord } from '../../design/badge.tsx';

const KINDS = ['added', 'modified', 'deleted', 'renamed'] as const;

export interface ChangeCountsProps {
  readonly counts: Readonly<Record<(typeof KINDS)[number] | 'bytes', number>> & { readonly other?: number };
}

export function ChangeCounts({ counts }: ChangeCountsProps) {
  const { bytes, other = 0 } = counts;
  return (
    <ul className="compare-totals">
      {KINDS.filter((kind) => counts[kind] > 0).map((kind) => (
        <li key={kind} className={`is-${kind}`}>
          {formatCount(counts[kind])} {changeWord(kind).toLowerCase()}
        </li>
      ))}
      {other > 0 && <li className="faint">{formatCount(other)} in mode or time</li>}
      {bytes > 0 && <li className="faint">{formatBytes(bytes)}</li>}
    </ul>
  );
}
