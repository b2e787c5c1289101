/**
 * A second process with write access to a served folder: it exchanges folders and files for links that lead out, and
 * back, as fast as it can. One exchange is one system call (renameat2 with RENAME_EXCHANGE, linux/fs.h), so a name is
 * always there: either the real thing or the link.
 *
 *   node swapper.ts LINKS TARGET NAME...
 *
 * NAME: what is exchanged. LINKS: an empty folder for the links. TARGET: where they lead. The process prints `ready`
 * when it has begun, puts everything back at a line on stdin, prints the number of exchanges and ends.
 */
import { renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import koffi from 'koffi';

interface Pair {
  readonly name: string;
  readonly link: string;
  /** The link lies under the name, and the real thing among the links. */
  isAway: boolean;
}

const AT_FDCWD = -100;
const RENAME_EXCHANGE = 2;
const renameat2 = koffi
  .load(null)
  .func('int renameat2(int fromFolder, const char *from, int toFolder, const char *to, unsigned int flags)');
const [links, target, ...names] = process.argv.slice(2) as [string, string, ...string[]];

const pairs: readonly Pair[] = names.map((name, index) => {
  const link = join(links, String(index));
  symlinkSync(target, link);
  return { name, link, isAway: false };
});
let exchanges = 0;
let isStopped = false;
process.stdin.once('data', () => {
  isStopped = true;
});

function exchange(pair: Pair): void {
  // Below a folder that is a link now, this process itself would reach what lies outside.
  if (pairs.some((other) => other.isAway && pair.name.startsWith(`${other.name}/`))) return;
  if (renameat2(AT_FDCWD, pair.name, AT_FDCWD, pair.link, RENAME_EXCHANGE) === 0) {
    pair.isAway = !pair.isAway;
    exchanges += 1;
  } else if (pair.isAway) putBack(pair);
}

/** The client removed the link: the real thing goes back to its name, and a new link takes its place. */
function putBack(pair: Pair): void {
  try {
    renameSync(pair.link, pair.name);
  } catch {
    // Something else lies there now. It is tried again in the next turn.
    return;
  }
  pair.isAway = false;
  symlinkSync(target, pair.link);
}

process.stdout.write('ready\n');
for (let step = 0; !isStopped; step += 1) {
  const pair = pairs[(step * 7) % pairs.length]!;
  exchange(pair);
  if (step % 5 === 0) await nextTurn();
  // Mostly the link stays for less than a request, sometimes for several.
  if (step % 64 < 48 && pair.isAway) exchange(pair);
}
for (const pair of pairs.toReversed()) if (pair.isAway) exchange(pair);
process.stdout.write(`${exchanges}\n`);
process.exit(0);
