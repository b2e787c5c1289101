/**
 * Compares what a command printed with what the page shows: all but times, rates, hashes and a copy's
 * requests has to be the same.
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

/** Without what each run has of its own. */
function withoutChance(line: string): string {
  return line
    .replace(/\b\d{13}-[0-9a-f]{8}\b/g, 'RUN')
    .replace(/\b[0-9a-f]{64}\b|\b(?=[a-z]*\d)[0-9a-f]{10}\b|\b[0-9a-f]{10}\b/g, 'HASH')
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
