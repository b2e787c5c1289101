/** Sizes and durations of the command line. */

/** `0:07`, `12:34`, `3:00:12`, for the progress line. */
export function formatClock(durationMs: number): string {
  const whole = Math.max(0, Math.ceil(durationMs / 1000));
  const seconds = String(whole % 60).padStart(2, '0');
  const minutes = Math.floor(whole / 60) % 60;
  const hours = Math.floor(whole / 3600);
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${seconds}` : `${minutes}:${seconds}`;
}

const FACTORS: Readonly<Record<string, number>> = {
  '': 1,
  k: 1024,
  m: 1024 ** 2,
  g: 1024 ** 3,
  t: 1024 ** 4,
};

/**
 * Parses `1048576`, `512k`, `64 MiB`, `1.5G`. Units are powers of 1,024, written K, KB or KiB. Undefined if
 * the text is not a size.
 */
export function parseSize(text: string): number | undefined {
  const match = /^\s*(\d+(?:\.\d+)?)\s*(?:([kmgt]?)(?:i?b)?)\s*$/i.exec(text);
  const factor = FACTORS[match?.[2]?.toLowerCase() ?? ''];
  if (!match || factor === undefined) return undefined;
  const bytes = Number(match[1]) * factor;
  return Number.isSafeInteger(Math.round(bytes)) ? Math.round(bytes) : undefined;
}
