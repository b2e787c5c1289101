/**
 * The common parts of the plots: small handwritten SVGs in the colours of the reader's system, equal for
 * equal figures.
 */

export interface Frame {
  readonly width: number;
  readonly height: number;
  /** The text for screen readers. */
  readonly title: string;
}

/** Classes are named for their meaning; the second colour is for dark systems. */
const COLOURS = {
  paper: ['#ffffff', '#0d1117'],
  ink: ['#1f2328', '#e6edf3'],
  faint: ['#59636e', '#9198a1'],
  rule: ['#d1d9e0', '#3d444d'],
  slower: ['#3b76c4', '#5b9bea'],
  quicker: ['#c4520a', '#f0883e'],
} as const;

/** Distinct to most eyes, also without colour vision (after Okabe and Ito), on white and on black. */
const LINES = [
  ['#0b62c4', '#58a6ff'],
  ['#c4520a', '#f0883e'],
  ['#1a7f37', '#3fb950'],
  ['#9a3fb5', '#d2a8ff'],
  ['#8a6d00', '#d4b13f'],
  ['#b3246b', '#ff7bb5'],
] as const;

export const LINE_COLOURS = LINES.length;

function styleOf(shade: 0 | 1): string {
  const fills = Object.entries(COLOURS).map(([name, shades]) => `.${name}{fill:${shades[shade]}}`);
  const rules = [
    `.grid{stroke:${COLOURS.rule[shade]}}`,
    `.base{stroke:${COLOURS.ink[shade]}}`,
    // Rules behind a heading stop short of it.
    `.head{stroke:${COLOURS.paper[shade]}}`,
    ...LINES.map(
      (shades, index) => `.line${index}{stroke:${shades[shade]}}.mark${index}{fill:${shades[shade]}}`,
    ),
  ];
  return [...fills, ...rules].join('');
}

export function drawSvg({ width, height, title }: Frame, shapes: readonly string[]): string {
  const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" aria-label="${escapeText(title)}">`,
    `<style>text{font:12px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif}.head{font-weight:600;stroke-width:4px;stroke-linejoin:round;paint-order:stroke}.small{font-size:11px}.large{font-size:15px;font-weight:600}.grid,.base,.line{fill:none}.line{stroke-width:2}${styleOf(0)}@media(prefers-color-scheme:dark){${styleOf(1)}}</style>`,
    `<rect class="paper" width="${width}" height="${height}"/>`,
    ...shapes,
    '</svg>',
    '',
  ].join('\n');
}

export interface TextOptions {
  readonly kind: string;
  readonly anchor?: 'start' | 'middle' | 'end';
}

/** @param y The base line. */
export function drawText(
  text: string,
  { x, y }: { readonly x: number; readonly y: number },
  { kind, anchor = 'start' }: TextOptions,
): string {
  const where = anchor === 'start' ? '' : ` text-anchor="${anchor}"`;
  return `<text class="${kind}" x="${round(x)}" y="${round(y)}"${where}>${escapeText(text)}</text>`;
}

export function drawRule(
  kind: 'grid' | 'base',
  from: readonly [number, number],
  to: readonly [number, number],
): string {
  const [x1, y1] = from.map(round);
  const [x2, y2] = to.map(round);
  return `<path class="${kind}" d="M${x1} ${y1}L${x2} ${y2}"/>`;
}

/** One decimal: more is invisible and would differ between machines. */
export function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

export interface Scale {
  /** In pixels. */
  at(value: number): number;
  readonly ticks: readonly number[];
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * A logarithmic scale over whole steps of 1, 2, 5, 10 around the values.
 *
 * @param values At least one, all above 0. @param pixels `from` may be larger than `to`, for an axis that
 * goes up.
 */
export function logScale(values: readonly number[], pixels: Span): Scale {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const steps = stepsBetween(least, most);
  const [first, last] = [steps[0] ?? least, steps.at(-1) ?? most];
  const span = Math.log(last / first) || 1;
  const at = (value: number) => pixels.from + ((pixels.to - pixels.from) * Math.log(value / first)) / span;
  const decades = Math.log10(last / first);
  // With many decades, the steps within them would overlap.
  const ticks = steps.filter((step) => decades <= 2.5 || isPowerOfTen(step));
  return { at, ticks: thin(ticks) };
}

const TICKS_MAX = 10;

/** A linear scale from 0 in steps of 1, 2 or 5 times a power of ten. */
export function linearScale(values: readonly number[], pixels: Span): Scale {
  const most = Math.max(...values, 0) || 1;
  const rough = most / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough) ?? rough;
  const count = Math.ceil(most / step - 1e-9);
  const top = count * step;
  return {
    at: (value) => pixels.from + ((pixels.to - pixels.from) * value) / top,
    ticks: Array.from({ length: count + 1 }, (_, index) => index * step),
  };
}

function stepsBetween(least: number, most: number): readonly number[] {
  const steps: number[] = [];
  const lowest = Math.floor(Math.log10(least) + 1e-9);
  const highest = Math.ceil(Math.log10(most) - 1e-9) + 1;
  for (let power = lowest; power <= highest; power += 1)
    for (const factor of [1, 2, 5]) steps.push(Number(`${factor}e${power}`));
  const first = steps.findLastIndex((step) => step <= least);
  const last = steps.findIndex((step) => step >= most);
  const around = steps.slice(Math.max(0, first), last + 1);
  return around.length > 1 ? around : steps.slice(Math.max(0, first), last + 2);
}

function isPowerOfTen(value: number): boolean {
  return value.toExponential().startsWith('1e');
}

function thin(ticks: readonly number[]): readonly number[] {
  const every = Math.ceil(ticks.length / TICKS_MAX);
  return ticks.filter((_, index) => index % every === 0);
}
