/**
 * Compares what a command printed with what the page shows: all but times, rates, hashes and a copy's
 * requests has to be the same. Each hash of a page stands for one hash of the run, so that a reader of the
 * page sees one history.
 */

/** A line of the page that stands for any number of lines. */
const ANY_LINES = '[...]';
/** Lines about the progress of work that takes seconds: on a busy machine all of it does. */
const PROGRESS =
  /^(?:scann|hash|compar|upload|download|writ|wrot|committ|verif)(?:ing|ed|e|ied|ying)?:? .*(?: in [\d.]+ m?s|requests|ETA.*|\d%.*)$/;
/** A copy gathers small files into one request for as long as they come within 2 ms of each other. */
const GATHERED = /^(Moved .* in .*, )[\d,]+ requests?\b/;
/** A busy server may reset a connection. The request is sent again, and the command's own result follows. */
const SENT_AGAIN = /^dray: warning: .* the connection broke off .* Trying again\.$/;

/** Without what is printed only on a busy machine. */
export function readOutputLines(output: string): string[] {
  return output
    .trimEnd()
    .split('\n')
    .filter((line) => !PROGRESS.test(line) && !SENT_AGAIN.test(line))
    .map((line) => line.trimEnd());
}

export function isAsShown(shown: readonly string[], output: readonly string[]): boolean {
  return matchLines(shown.map(withoutChance), output.map(withoutChance));
}

const HASH = /\b[0-9a-f]{64}\b|\b(?=[a-z]*\d)[0-9a-f]{10}\b|\b[0-9a-f]{10}\b/g;
const SHORT_HASH_DIGITS = 10;

/** Which hash of the run each hash of a page stands for, by their first digits. */
export interface PageHashes {
  readonly actualOf: Map<string, string>;
  readonly shownOf: Map<string, string>;
}

/** Takes in what a block shows. @returns False when it contradicts another block. */
export function takeHashes(
  { actualOf, shownOf }: PageHashes,
  shown: readonly string[],
  output: readonly string[],
): boolean {
  let isOne = true;
  for (const [shownHash, actual] of hashPairs(shown, output)) {
    const isKnown = actualOf.has(shownHash) || shownOf.has(actual);
    if (isKnown) isOne &&= actualOf.get(shownHash) === actual && shownOf.get(actual) === shownHash;
    else {
      actualOf.set(shownHash, actual);
      shownOf.set(actual, shownHash);
    }
  }
  return isOne;
}

/** Lines that were printed, with the hashes by which the page knows them. */
export function withShownHashes({ shownOf }: PageHashes, output: readonly string[]): string[] {
  return output.map((line) => replaceHashes(line, (hash) => shownOf.get(hash) ?? hash));
}

/** The lines of the page, with one hash for each hash of the run. */
export function withOneHash(
  hashes: PageHashes,
  shown: readonly string[],
  output: readonly string[],
): string[] {
  const wanted = new Map<string, string>();
  for (const [shownHash, actual] of hashPairs(shown, output)) {
    const known = hashes.shownOf.get(actual);
    // Its own name is free: it was printed, and no block shows it.
    if (known === undefined) takeHashes(hashes, [actual], [actual]);
    wanted.set(shownHash, known ?? actual);
  }
  return shown.map((line) => replaceHashes(line, (hash) => wanted.get(hash) ?? hash));
}

function replaceHashes(line: string, replace: (hash: string) => string): string {
  return line.replace(
    HASH,
    (hash) => replace(hash.slice(0, SHORT_HASH_DIGITS)) + hash.slice(SHORT_HASH_DIGITS),
  );
}

/** The lines before the first and after the last `[...]` have their counterparts at the same places. */
function* hashPairs(
  shown: readonly string[],
  output: readonly string[],
): Generator<readonly [shown: string, actual: string]> {
  const first = shown.indexOf(ANY_LINES);
  const last = shown.lastIndexOf(ANY_LINES);
  for (const [index, line] of shown.entries()) {
    if (first >= 0 && index >= first && index <= last) continue;
    const at = first >= 0 && index > last ? output.length - (shown.length - index) : index;
    const [mine, theirs] = [hashesOf(line), hashesOf(output[at] ?? '')];
    if (mine.length !== theirs.length) continue;
    for (const [order, hash] of mine.entries()) yield [hash, theirs[order]!];
  }
}

function hashesOf(line: string): string[] {
  return [...line.matchAll(HASH)].map(([hash]) => hash.slice(0, SHORT_HASH_DIGITS));
}

/** Without what each run has of its own. */
function withoutChance(line: string): string {
  return line
    .replace(/\b\d{13}-[0-9a-f]{8}\b/g, 'RUN')
    .replace(HASH, 'HASH')
    .replace(/\b(?:[0-9A-F]{2}:){31}[0-9A-F]{2}\b/g, 'HASH')
    .replace(/(?<![\w-])[\w-]{43}(?![\w-])/g, 'TOKEN')
    .replace(/\([\d.,]+ (?:[KMG]i)?B\/s\)/g, '(RATE)')
    .replace(/(?<![\d.])[\d.]+ m?s\b/g, 'TIME')
    .replace(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'MOMENT')
    .replace(/"elapsedMs":\d+/g, '"elapsedMs":TIME')
    .replace(GATHERED, '$1REQUESTS');
}

function matchLines(shown: readonly string[], actual: readonly string[]): boolean {
  const [first, ...rest] = shown;
  if (first === undefined) return actual.length === 0;
  if (first !== ANY_LINES) return actual[0] === first && matchLines(rest, actual.slice(1));
  for (let skipped = 0; skipped <= actual.length; skipped += 1)
    if (matchLines(rest, actual.slice(skipped))) return true;
  return false;
}
