/** Measures the columns that a text takes on a terminal, and shortens it to fit. */

/** Created at first use, because it loads tables for some 10 ms. */
let segmenter: Intl.Segmenter | undefined;
const PLAIN = /^[\x20-\x7e]*$/;
/** East Asian wide and fullwidth characters (Unicode Standard Annex 11) and emoji take two columns. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1b000}-\u{1b2ff}]|[\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u;
/** A segment of only such characters takes no column. */
const NOTHING = /^[\p{Mark}\p{Format}]+$/u;

export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segmentsOf(text)) width += widthOf(segment);
  return width;
}

/** Omits the middle, because the start and the last name identify a path. */
export function shortenMiddle(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text;
  if (columns < 5) return takeColumns([...segmentsOf(text)], columns).join('');
  const segments = [...segmentsOf(text)];
  const end = Math.ceil(((columns - 3) * 2) / 3);
  const tail = takeColumns(segments.toReversed(), end).toReversed();
  return `${takeColumns(segments, columns - 3 - end).join('')}...${tail.join('')}`;
}

function takeColumns(segments: readonly Intl.SegmentData[], columns: number): string[] {
  const taken: string[] = [];
  let width = 0;
  for (const { segment } of segments) {
    width += widthOf(segment);
    if (width > columns) break;
    taken.push(segment);
  }
  return taken;
}

function widthOf(segment: string): number {
  if (NOTHING.test(segment)) return 0;
  return WIDE.test(segment) ? 2 : 1;
}

function segmentsOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter();
  return segmenter.segment(text);
}
