/** Lines of tables, JSON and logs that compress about as real ones do. Equal seeds give equal lines. */

export interface TextLines {
  /** Below `below`, whole. */
  whole(below: number): number;
  row(at: number): string;
  record(at: number): string;
  line(at: number): string;
}

/** Mulberry32. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function createTextLines(seed: number): TextLines {
  const random = randomFrom(seed);
  const whole = (below: number) => Math.floor(random() * below);
  const words = Array.from({ length: 4_000 }, () =>
    Array.from({ length: 3 + whole(7) }, () => 'aeioubcdfghklmnprst'[whole(19)]).join(''),
  );
  /** Few words are frequent, as in a language. */
  const word = () => words[Math.floor(words.length * random() ** 3)]!;
  const text = (count: number) => Array.from({ length: count }, word).join(' ');
  const time = (at: number) => new Date(1_700_000_000_000 + at * 1_370).toISOString();
  return {
    whole,
    row: (at) =>
      `${at},${time(at)},ST${1 + whole(120)},${(12 + 9 * random()).toFixed(2)},${(20 + 79 * random()).toFixed(1)},${word()}\n`,
    record: (at) =>
      `${JSON.stringify({ id: at * 7919, created: time(at), user: { name: word(), verified: random() < 0.3 }, text: text(3 + whole(25)), score: Number(random().toFixed(6)) })}\n`,
    line: (at) =>
      `${whole(223)}.${whole(256)}.${whole(256)}.9 - - [${time(at)}] "GET /${word()}/${word()} HTTP/1.1" ${random() < 0.9 ? 200 : 404} ${whole(60_000)} "-" "Mozilla/5.0 (${random() < 0.5 ? 'X11; Linux x86_64' : 'Windows NT 10.0'})"\n`,
  };
}
