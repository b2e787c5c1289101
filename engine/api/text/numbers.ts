/** Formats numbers for people, identically in the command line and in the window. Isomorphic. */

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

/** `0 B`, `1,023 B`, `1.5 KiB`, `34.2 MiB`, `120 GiB`: at most three digits after the first unit. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  // The next unit begins where rounding would print "1024 KiB" (from 1,023.5 on).
  while (unit < UNITS.length - 1 && value >= (unit === 0 ? 1024 : 1023.5)) {
    value /= 1024;
    unit += 1;
  }
  if (unit === 0) return `${formatCount(value)} B`;
  return `${value < 99.95 ? value.toFixed(1) : formatCount(Math.round(value))} ${UNITS[unit]}`;
}

/** `1,234,567`. */
export function formatCount(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `1 file`, `2 files`. */
export function formatPlural(count: number, singular: string, plural = `${singular}s`): string {
  return `${formatCount(count)} ${count === 1 ? singular : plural}`;
}

/** `0.21 s`, `3.4 s`, `1m 05s`, `2h 03m`. */
export function formatDuration(durationMs: number): string {
  const seconds = Math.max(0, durationMs / 1000);
  if (seconds < 0.995) return `${seconds.toFixed(2)} s`;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${String(whole % 60).padStart(2, '0')}s`;
  return `${Math.floor(whole / 3600)}h ${String(Math.floor((whole % 3600) / 60)).padStart(2, '0')}m`;
}

const SPAN_UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
] as const;

/** `90s`, `30m`, `2h`, `1d`, as options take it: exact, in the largest unit that fits. */
export function formatSpan(spanMs: number): string {
  const [unit, unitMs] = SPAN_UNITS.find(([, ms]) => spanMs % ms === 0) ?? (['s', 1_000] as const);
  return `${spanMs / unitMs}${unit}`;
}

/** `$0`, `$0.0000004`, `$0.0125`, `$12.30`: two significant digits below a dollar. */
export function formatDollars(dollars: number): string {
  if (dollars === 0) return '$0';
  if (dollars >= 1) return `$${dollars.toFixed(2)}`;
  const decimals = Math.min(12, 1 - Math.floor(Math.log10(dollars)));
  return `$${dollars.toFixed(decimals)}`;
}

/** The first ten digits, as Dray prints commits and blobs. */
export function formatHash(hash: string): string {
  return hash.slice(0, 10);
}

/** What damage costs. Of a lost commit or list of files nobody knows the paths. */
export function formatAffected(paths: number): string {
  if (paths === 0) return 'which files that affects is not known';
  return `${formatPlural(paths, 'path')} cannot be restored in full`;
}
