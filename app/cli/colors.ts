/** Restrained colours for one stream: NO_COLOR and FORCE_COLOR are obeyed (no-color.org), else a terminal decides. */

export type Color = 'red' | 'green' | 'yellow' | 'cyan' | 'dim' | 'bold';

const CODES: Readonly<Record<Color, readonly [number, number]>> = {
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
  dim: [2, 22],
  bold: [1, 22],
};

export type Paint = (color: Color, text: string) => string;

export interface ColorQuestion {
  readonly isTerminal: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export function wantsColor({ isTerminal, environment }: ColorQuestion): boolean {
  const force = environment.FORCE_COLOR;
  if (force !== undefined && force !== '') return force !== '0' && force !== 'false';
  if (environment.NO_COLOR) return false;
  return isTerminal && environment.TERM !== 'dumb';
}

export function createPaint(question: ColorQuestion): Paint {
  if (!wantsColor(question)) return (_color, text) => text;
  return (color, text) => `\x1b[${CODES[color][0]}m${text}\x1b[${CODES[color][1]}m`;
}
