/** The table of `--explain` for plain trees: how the destination was searched, and what decided. */
import type { LookupExplanation } from '../../../engine/api/events.ts';
import { formatCount, formatPlural } from '../../../engine/api/text/numbers.ts';
import { formatTable } from './table.ts';

const NAMES: Readonly<Record<LookupExplanation['chosen'], string>> = {
  none: 'not at all',
  each: 'name by name',
  list: 'the listing',
  leapfrog: 'leapfrog',
  scan: "the folder's own listing",
};

export function formatLookup(lookup: LookupExplanation): string[] {
  const {
    chosen,
    decidedByHash,
    decidedByHead,
    decidedByIndex,
    destinationSeen,
    heads,
    lists,
    reason,
    sourceFiles,
    timesAsked,
    timesRemembered,
  } = lookup;
  const rows = [
    ['source', formatPlural(sourceFiles, 'file')],
    ['lookup', `${NAMES[chosen]}: ${reason}`],
    [
      'requests',
      `${formatCount(lists)} LIST, ${formatCount(heads)} HEAD; ${formatPlural(destinationSeen, 'object')} seen`,
    ],
    [
      'decided',
      `${formatCount(decidedByIndex)} by the index, ${formatCount(decidedByHash)} by content, ${formatCount(decidedByHead)} by times`,
    ],
  ];
  if (timesAsked + timesRemembered > 0)
    rows.push(['ages', `${formatCount(timesAsked)} HEAD, ${formatCount(timesRemembered)} remembered`]);
  return [
    'How the destination was searched:',
    ...formatTable(rows, ['left', 'left']).map((line) => `  ${line}`),
  ];
}
