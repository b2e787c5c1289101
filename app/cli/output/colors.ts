/**
 * Colours for one stream. NO_COLOR and FORCE_COLOR decide (no-color.org), otherwise whether it is a terminal.
 */

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
  return (color, text) => MARK + CODES[color][0] + END + text + MARK + CODES[color][1] + END;
}

/**
 * Inside lines, colours are marks, which the terminal's writer turns into escape sequences after it has
 * escaped all others. Text from outside cannot contain a mark, because each process draws its number at
 * random.
 */
const MARK = `\ufdd0${Math.random().toString(36).slice(2)}:`;
const END = '\ufdd1';
const KNOWN_CODES = new Set(Object.values(CODES).flat());

/** @param line The result of `toTerminalLine`. */
export function showColors(line: string): string {
  if (!line.includes(MARK)) return line;
  const [first, ...others] = line.split(MARK);
  const shown = others.map((part) => {
    const end = part.indexOf(END);
    const code = Number(part.slice(0, end));
    return KNOWN_CODES.has(code) ? `\x1b[${code}m${part.slice(end + END.length)}` : part;
  });
  return [first, ...shown].join('');
}
