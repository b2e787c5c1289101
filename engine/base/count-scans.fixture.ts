/**
 * Counts the characters that string methods and regular expressions read during a piece of work. A parser of
 * outside text is linear when the count grows no faster than the text. Unlike a clock, the count is the same
 * on each machine. A regular expression that may backtrack (`mayBacktrack`) counts as the square of its text.
 */
type Method = (this: string, ...parameters: unknown[]) => unknown;
type Cost = (text: string, parameters: readonly unknown[], result: unknown) => number;

const searched: Cost = (text, [needle, from], result) => {
  const start = typeof from === 'number' ? Math.max(0, from) : 0;
  const end = typeof result === 'number' && result >= 0 ? result : text.length;
  return Math.max(0, end - start) + String(needle).length;
};
const ofLength: Cost = (text) => text.length + 1;
const ofResult: Cost = (_text, _parameters, result) => String(result ?? '').length + 1;
const ofNeedle: Cost = (_text, [needle]) => String(needle).length;
const one: Cost = () => 1;

const COSTS: Readonly<Record<string, Cost>> = {
  indexOf: searched,
  lastIndexOf: ofLength,
  includes: ofLength,
  startsWith: ofNeedle,
  endsWith: ofNeedle,
  charCodeAt: one,
  charAt: one,
  at: one,
  codePointAt: one,
  slice: ofResult,
  substring: ofResult,
  trim: ofLength,
  trimStart: ofLength,
  trimEnd: ofLength,
  toLowerCase: ofLength,
  split: ofLength,
  replace: ofLength,
  replaceAll: ofLength,
  search: ofLength,
  match: ofLength,
};

export function countScans(work: () => void): number {
  const strings = String.prototype as unknown as Record<string, Method>;
  const expressions = RegExp.prototype;
  const own = Object.keys(COSTS).map((name) => [name, strings[name] as Method] as const);
  const { exec, test } = expressions;
  let count = 0;
  let isJudging = false;
  for (const [name, method] of own) {
    strings[name] = function counted(...parameters) {
      const result = method.apply(this, parameters);
      if (isJudging) return result;
      count += (COSTS[name] as Cost)(`${this}`, parameters, result);
      return result;
    };
  }
  const counted = <T>(run: (this: RegExp, text: string) => T) =>
    function search(this: RegExp, text: string): T {
      const start = this.lastIndex;
      const result = run.call(this, text);
      if (isJudging) return result;
      isJudging = true;
      const isSquare = mayBacktrack(this.source);
      isJudging = false;
      const end = this.lastIndex > start ? this.lastIndex : text.length;
      count += (isSquare ? (end - start) ** 2 : end - start) + 1;
      return result;
    };
  expressions.exec = counted(exec);
  expressions.test = counted(test);
  try {
    work();
  } finally {
    for (const [name, method] of own) strings[name] = method;
    expressions.exec = exec;
    expressions.test = test;
  }
  return count;
}

/**
 * Conservative: one unbounded repetition counts as linear only if it begins at a fixed place or nothing has
 * to follow it.
 */
export function mayBacktrack(source: string): boolean {
  const plain = source.replace(/\\./g, 'x').replace(/\[[^\]]*\]/g, 'x');
  const repetitions = plain.match(/[*+]|\{\d*,\}/g)?.length ?? 0;
  if (repetitions === 0) return false;
  return repetitions > 1 || !(plain.startsWith('^') || /[*+]$/.test(plain));
}
