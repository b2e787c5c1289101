/** Parses a duration of an option. */
import { InvalidArgumentError } from 'commander';

/** The milliseconds of each unit. */
export const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};

/** `30s`, `30m`, `2h`, `1d`, `1w`, within the bounds. @throws InvalidArgumentError */
export function parsePause(
  text: string,
  { maxMs, minMs }: { readonly minMs: number; readonly maxMs: number },
): number {
  const found = /^(\d{1,6})([smhdw])$/.exec(text);
  const pauseMs = found ? Number(found[1]) * UNIT_MS[found[2]!]! : Number.NaN;
  if (pauseMs >= minMs && pauseMs <= maxMs) return pauseMs;
  const [least, most] = [`${minMs / 1_000}s`, `${Math.floor(maxMs / UNIT_MS.d!)}d`];
  throw new InvalidArgumentError(
    `It must be a duration such as 90s, 30m, 2h or 1d, from ${least}${maxMs >= UNIT_MS.d! ? ` to ${most}` : ''}.`,
  );
}
