/** Why Dray is not first, or misses its target, in a row of the page of results. Written by hand; figures are not. */
import { keyOf, type ResultRow } from './results-rows.ts';

/**
 * By the row's name, as the page shows it (`copy-1k-30ms`, `copy-1k on minio`); by the scenario's name (`copy-1k`) for all of
 * its rows that need one.
 */
export type Reasons = Readonly<Record<string, string>>;

const NODE_START =
  'A thousand small files are bound by the start of Node and by code that has not been compiled yet; from some thousands on the server is the limit.';
const BARE_COPY =
  'On a loopback without limits rsync, in C, is ahead: what Node takes at both ends for HTTP and file calls alone, without sums, is as much CPU as all that rsync takes.';
const DRY_FEW =
  'Dray lists where the tools that are ahead ask for each file by itself: about 50 requests instead of 500, at most 60 by promise; a server beside it answers 500 sooner.';

const START_OF_NODE =
  'The start of Node; the peers that are ahead are single binaries that ask for the one file.';
const START_ALONE =
  'The start of Node and of the bundle is nearly all of it; the peers are single binaries that have one listing to read.';
const MEMORY =
  'In memory: Node takes 55 MiB before its first file and more for each thread, and V8 collects late where there is room. Of 500,000 files what is in use stays below 25 MB in a first look and a list, 55 MB in a clone, whose contents pass through up to 144 MiB.';

const NOT_LOOKING =
  'rsync --whole-file does not look for what is equal: where the line has no limit, sending all is cheaper than reading both.';
const PERCENTS = [30, 40, 50, 60, 70, 80, 90, 100];

export const REASONS: Reasons = {
  ...Object.fromEntries(PERCENTS.map((percent) => [`delta-${percent}`, NOT_LOOKING])),
  'delta-medium-50': NOT_LOOKING,
  'delta-medium-100': NOT_LOOKING,
  'delta-large-50': NOT_LOOKING,
  'delta-large-100': NOT_LOOKING,
  'copy-1k': NODE_START,
  'copy-1k-down': NODE_START,
  'copy-large-down':
    'Each byte is verified by what the store vouches for before the file takes its name; s5cmd checks nothing. Beside it stands what a Node program takes that checks nothing either (bare GETs).',
  'clone-large':
    'Every byte is hashed with SHA-256 before the file appears, in chunks; s5cmd checks nothing, rclone MD5 alone.',
  'dry-500': DRY_FEW,
  'dry-1': START_OF_NODE,
  'dry-100k-1m':
    'A tenth of the listing is local: all of it is listed, and the server takes most of the time.',
  'dry-1-1m': START_OF_NODE,
  'push-large-again': START_ALONE,
  'push-1k-again-30ms': START_ALONE,
  'copy-1k-again': START_ALONE,
  'copy-large-again': START_ALONE,
  'peer-file': BARE_COPY,
  'peer-large': BARE_COPY,
  'peer-images': BARE_COPY,
  's2s-10gb':
    'What took half an hour was preparing it, an upload of the object by rclone: versitygw joins parts by copying them, and on the disk of that machine rclone sent it three times in vain. By itself it is measured on MinIO since.',
  's2s-mixed':
    'Both servers and the client share two cores: the servers take four fifths of the CPU, whoever asks them.',
  'peer-50k':
    'rsync takes 70 us of CPU for a small file at both ends together, Dray 130 (20 and 50 on a quicker machine): one thread of JavaScript at each.',
  'peer-50k-again':
    'An eighth of the time is the start of Node before the first line of Dray runs, and as much again its loading.',
  'growth-scan': MEMORY,
  'growth-list': `${MEMORY} In time: the server, which takes more than ten times as much CPU to list ten times as many, whoever asks it.`,
  'growth-push': MEMORY,
  'growth-clone': MEMORY,
  'cdc-insert':
    'The target is bytes sent, and is met; in time, cutting both files by content is behind the rolling sums of rsync.',
};

/** Of the row itself first, then of its scenario. */
export function reasonKeyOf(row: ResultRow, reasons: Reasons): string | undefined {
  return [keyOf(row), row.result.name, row.result.scenario].find((key) => reasons[key] !== undefined);
}

/** Also one in which nothing was measured. */
export function needsReason({ isFirst, own }: ResultRow): boolean {
  return !isFirst || own?.outcome.state === 'failed';
}

/** A row that is first may say why it misses its target. */
export function mayHaveReason(row: ResultRow): boolean {
  return needsReason(row) || row.result.verdicts.some(({ isMet, reached }) => reached !== null && !isMet);
}

export interface ReasonGaps {
  /** Rows that have none and need one. */
  readonly missing: readonly string[];
  /** Reasons of which no row has need. */
  readonly idle: readonly string[];
}

export function findReasonGaps(rows: readonly ResultRow[], reasons: Reasons): ReasonGaps {
  const used = new Set(rows.filter(mayHaveReason).map((row) => reasonKeyOf(row, reasons)));
  return {
    missing: rows.filter((row) => needsReason(row) && !reasonKeyOf(row, reasons)).map(keyOf),
    idle: Object.keys(reasons).filter((key) => !used.has(key)),
  };
}
