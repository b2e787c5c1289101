/**
 * The lines of two texts side by side: Myers' greedy difference ("An O(ND) Difference Algorithm and Its
 * Variations", 1986) between the common beginning and the common end. Bounded: texts that differ in more than
 * `EDITS_MAX` lines are shown as one replaced block.
 */

export interface SideLine {
  readonly number: number;
  readonly text: string;
}

/** A row of the two sides; one is absent if a line was added or removed. */
export interface DiffRow {
  readonly is: 'same' | 'changed' | 'added' | 'removed';
  readonly left?: SideLine;
  readonly right?: SideLine;
}

const EDITS_MAX = 1_500;

export function diffLines(before: string, after: string): DiffRow[] {
  const left = linesOf(before);
  const right = linesOf(after);
  let head = 0;
  while (head < left.length && head < right.length && left[head] === right[head]) head += 1;
  let tail = 0;
  while (
    tail < left.length - head &&
    tail < right.length - head &&
    left[left.length - 1 - tail] === right[right.length - 1 - tail]
  )
    tail += 1;
  const same = matchLines(left.slice(head, left.length - tail), right.slice(head, right.length - tail));
  const matches: [number, number][] = [];
  for (let at = 0; at < head; at += 1) matches.push([at, at]);
  for (const [l, r] of same) matches.push([l + head, r + head]);
  for (let at = tail; at > 0; at -= 1) matches.push([left.length - at, right.length - at]);
  return pairRows(left, right, matches);
}

/** Rows far from every difference are folded: each run becomes its length. */
export function foldSame(rows: readonly DiffRow[], context = 3): (DiffRow | { readonly folded: number })[] {
  const near = new Uint8Array(rows.length);
  rows.forEach((row, at) => {
    if (row.is !== 'same') near.fill(1, Math.max(0, at - context), at + context + 1);
  });
  const shown: (DiffRow | { readonly folded: number })[] = [];
  for (let at = 0; at < rows.length; ) {
    let end = at;
    while (end < rows.length && !near[end]) end += 1;
    // A fold takes a line itself.
    if (end - at > 1) shown.push({ folded: end - at });
    else if (end > at) shown.push(rows[at]!);
    if (end < rows.length) shown.push(rows[end]!);
    at = end + 1;
  }
  return shown;
}

function linesOf(text: string): string[] {
  if (text === '') return [];
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** Pairs of equal lines, ascending on both sides. */
function matchLines(left: readonly string[], right: readonly string[]): [number, number][] {
  const size = left.length + right.length;
  const limit = Math.min(size, EDITS_MAX);
  const width = 2 * limit + 3;
  const origin = limit + 1;
  const furthest = new Int32Array(width);
  const trail: Int32Array[] = [];
  for (let edits = 0; edits <= limit; edits += 1) {
    trail.push(furthest.slice(origin - edits - 1, origin + edits + 2));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const down =
        diagonal === -edits ||
        (diagonal !== edits && furthest[origin + diagonal - 1]! < furthest[origin + diagonal + 1]!);
      let x = down ? furthest[origin + diagonal + 1]! : furthest[origin + diagonal - 1]! + 1;
      while (x < left.length && x - diagonal < right.length && left[x] === right[x - diagonal]) x += 1;
      furthest[origin + diagonal] = x;
      if (x >= left.length && x - diagonal >= right.length) return walkBack(trail, left.length, right.length);
    }
  }
  return [];
}

/** @param trail The furthest points before each number of edits, around diagonal 0. */
function walkBack(trail: readonly Int32Array[], leftLength: number, rightLength: number): [number, number][] {
  const matches: [number, number][] = [];
  let x = leftLength;
  let y = rightLength;
  for (let edits = trail.length - 1; edits >= 0; edits -= 1) {
    const reached = trail[edits]!;
    const at = (diagonal: number) => reached[diagonal + edits + 1]!;
    const diagonal = x - y;
    const down = diagonal === -edits || (diagonal !== edits && at(diagonal - 1) < at(diagonal + 1));
    const previousX = edits === 0 ? 0 : down ? at(diagonal + 1) : at(diagonal - 1);
    const previousY = edits === 0 ? 0 : previousX - (down ? diagonal + 1 : diagonal - 1);
    while (x > previousX && y > previousY) {
      x -= 1;
      y -= 1;
      matches.push([x, y]);
    }
    x = previousX;
    y = previousY;
  }
  return matches.reverse();
}

function pairRows(
  left: readonly string[],
  right: readonly string[],
  matches: readonly (readonly [number, number])[],
): DiffRow[] {
  const rows: DiffRow[] = [];
  let l = 0;
  let r = 0;
  for (const [matchL, matchR] of [...matches, [left.length, right.length] as const]) {
    while (l < matchL && r < matchR)
      rows.push({ is: 'changed', left: lineAt(left, l++), right: lineAt(right, r++) });
    while (l < matchL) rows.push({ is: 'removed', left: lineAt(left, l++) });
    while (r < matchR) rows.push({ is: 'added', right: lineAt(right, r++) });
    if (matchL < left.length && matchR < right.length)
      rows.push({ is: 'same', left: lineAt(left, l++), right: lineAt(right, r++) });
  }
  return rows;
}

function lineAt(lines: readonly string[], at: number): SideLine {
  return { number: at + 1, text: lines[at]! };
}
