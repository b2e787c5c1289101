/** Columns of text, padded to their widest cell. */
export type Alignment = 'left' | 'right';

/** A row may have fewer cells than others. No line ends in spaces. */
export function formatTable(
  rows: readonly (readonly string[])[],
  alignments: readonly Alignment[],
): string[] {
  const widths = alignments.map((_, column) => Math.max(0, ...rows.map((row) => (row[column] ?? '').length)));
  return rows.map((row) => {
    const cells = alignments.map((alignment, column) => {
      const cell = row[column] ?? '';
      return alignment === 'left' ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!);
    });
    return cells.join('  ').trimEnd();
  });
}
