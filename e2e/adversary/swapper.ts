/**
 * A second process with write access to a served folder. It exchanges folders and files for links that lead
 * out, and back, as fast as it can. One exchange is one system call (renameat2 with RENAME_EXCHANGE,
 * linux/fs.h), so a name always exists: as the real item or as the link.
 *
 *     node swapper.ts LINKS TARGET NAME...
 *
 * NAME: an item to exchange. LINKS: an empty folder for the links. TARGET: where they lead. The process
 * prints `ready` once it has begun. At a line on stdin it puts everything back, prints the number of
 * exchanges and ends.
 */
import { renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import koffi from 'koffi';

interface Pair {
  readonly name: string;
  readonly link: string;
  /** True while the link has the name and the real item lies among the links. */
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
  // Below a folder that is a link now, this process would itself change items outside.
  if (pairs.some((other) => other.isAway && pair.name.startsWith(`${other.name}/`))) return;
  if (renameat2(AT_FDCWD, pair.name, AT_FDCWD, pair.link, RENAME_EXCHANGE) === 0) {
    pair.isAway = !pair.isAway;
    exchanges += 1;
  } else if (pair.isAway) putBack(pair);
}

/** After the client has removed the link: restores the real item under its name and makes a new link. */
function putBack(pair: Pair): void {
  try {
    renameSync(pair.link, pair.name);
  } catch {
    // Another item has the name now. The next turn tries again.
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
  // Usually the link stays for less than a request, sometimes for several.
  if (step % 64 < 48 && pair.isAway) exchange(pair);
}
for (const pair of pairs.toReversed()) if (pair.isAway) exchange(pair);
process.stdout.write(`${exchanges}\n`);
process.exit(0);
