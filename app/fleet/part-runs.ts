/**
 * A set of part numbers in a few characters, such as `0-3,7`, because it is stored in workflow histories,
 * whose payloads are bounded.
 */
export type PartRuns = string;

export function formatRuns(numbers: Iterable<number>): PartRuns {
  const sorted = [...new Set(numbers)].sort((left, right) => left - right);
  const runs: { from: number; to: number }[] = [];
  for (const number of sorted) {
    const last = runs.at(-1);
    if (last && last.to + 1 === number) last.to = number;
    else runs.push({ from: number, to: number });
  }
  return runs.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`)).join(',');
}

export function parseRuns(runs: PartRuns): number[] {
  return runs
    .split(',')
    .filter((run) => run !== '')
    .flatMap((run) => {
      const [from = 0, to = from] = run.split('-').map(Number);
      return Array.from({ length: to - from + 1 }, (_, index) => from + index);
    });
}
