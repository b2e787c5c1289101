/**
 * Why Dray is not first, or misses its target, in a row of the results page. Written by hand; figures are
 * not.
 */
import { keyOf, type ResultRow } from './results-rows.ts';

/**
 * By the row's name on the page (`copy-1k-30ms`, `copy-1k on minio`), or by the scenario's name (`copy-1k`)
 * for all its rows that need a reason.
 */
export type Reasons = Readonly<Record<string, string>>;

const NODE_START =
  'With a thousand small files, most of the time is the start of Node and of code that is not compiled ' +
  'yet. From some thousands on, the server is the limit.';
const BARE_COPY =
  'On a loopback without limits rsync, written in C, is ahead: for HTTP and file calls at both ends, ' +
  'even without checksums, Node needs as much CPU as rsync needs in total.';
const DRY_FEW =
  'Dray lists the destination, and the faster tools send a HEAD for each file: about 50 requests ' +
  'instead of 500 (at most 60 by promise). A server on the same machine answers 500 sooner.';

const START_OF_NODE = 'The start of Node. The faster peers are single binaries that ask for the one file.';
const START_ALONE =
  'Nearly all of the time is the start of Node and of the bundle. The peers are single binaries with ' +
  'one listing to read.';
const MEMORY =
  'Memory: Node takes 55 MiB before its first file and more for each thread, and V8 collects late ' +
  'while there is room. For 500,000 files the memory in use stays below 25 MB in a first scan and a ' +
  'list, and below 55 MB in a clone, whose contents pass through up to 144 MiB.';

const WHOLE_FILE =
  'rsync --whole-file does not search for equal blocks: without a bandwidth limit, sending everything ' +
  'is cheaper than reading both files.';
const PERCENTS = [30, 40, 50, 60, 70, 80, 90, 100];

export const REASONS: Reasons = {
  ...Object.fromEntries(PERCENTS.map((percent) => [`delta-${percent}`, WHOLE_FILE])),
  'delta-medium-50': WHOLE_FILE,
  'delta-medium-100': WHOLE_FILE,
  'delta-large-50': WHOLE_FILE,
  'delta-large-100': WHOLE_FILE,
  'copy-1k': NODE_START,
  'copy-1k-down': NODE_START,
  'copy-large-down':
    'Before a file gets its name, Dray verifies each byte against the checksum that the store vouches ' +
    'for; s5cmd verifies nothing. The row "bare GETs" is a Node program that verifies nothing either.',
  'clone-large':
    'Dray hashes every byte with SHA-256, in chunks, before the file appears; s5cmd verifies nothing, ' +
    'and rclone only MD5.',
  'dry-500': DRY_FEW,
  'dry-1': START_OF_NODE,
  'dry-100k-1m':
    'A tenth of the listed objects is local. Dray lists all of them, and the server takes most of the time.',
  'dry-1-1m': START_OF_NODE,
  'push-large-again': START_ALONE,
  'push-1k-again-30ms': START_ALONE,
  'copy-1k-again': START_ALONE,
  'copy-large-again': START_ALONE,
  'peer-file': BARE_COPY,
  'peer-large': BARE_COPY,
  'peer-images': BARE_COPY,
  's2s-10gb':
    'The preparation took half an hour: rclone uploads the object, versitygw joins its parts by ' +
    'copying them, and on the disk of that machine rclone sent it three times without success. Since ' +
    'then, this row is measured by itself on MinIO.',
  's2s-mixed':
    'Both servers and the client share two cores, and the servers take four fifths of the CPU with ' +
    'every tool.',
  'peer-50k':
    'For a small file, rsync needs 70 us of CPU at both ends together and Dray 130 us (20 and 50 us on ' +
    'a faster machine), with one thread of JavaScript at each end.',
  'peer-50k-again':
    'An eighth of the time is the start of Node before the first line of Dray runs, and another eighth ' +
    'is the loading of Dray.',
  'growth-scan': MEMORY,
  'growth-list':
    `${MEMORY} Time: with every tool, the server needs more than ten times the CPU to ` +
    'list ten times as many objects.',
  'growth-push': MEMORY,
  'growth-clone': MEMORY,
  'cdc-insert':
    'The target is about bytes sent, and is met. In time, splitting both files by content is slower ' +
    'than rsync and its rolling sums.',
};

/** Prefers the reason of the row to that of its scenario. */
export function reasonKeyOf(row: ResultRow, reasons: Reasons): string | undefined {
  return [keyOf(row), row.result.name, row.result.scenario].find((key) => reasons[key] !== undefined);
}

/** True also for a row without measurements. */
function needsReason({ isFirst, own }: ResultRow): boolean {
  return !isFirst || own?.outcome.state === 'failed';
}

/** A row that is first may explain a missed target. */
export function mayHaveReason(row: ResultRow): boolean {
  return needsReason(row) || row.result.verdicts.some(({ isMet, reached }) => reached !== null && !isMet);
}

export interface ReasonGaps {
  /** Rows that need a reason and have none. */
  readonly missing: readonly string[];
  /** Reasons that no row needs. */
  readonly idle: readonly string[];
}

export function findReasonGaps(rows: readonly ResultRow[], reasons: Reasons): ReasonGaps {
  const used = new Set(rows.filter(mayHaveReason).map((row) => reasonKeyOf(row, reasons)));
  return {
    missing: rows.filter((row) => needsReason(row) && !reasonKeyOf(row, reasons)).map(keyOf),
    idle: Object.keys(reasons).filter((key) => !used.has(key)),
  };
}
