/** The calls that are counted inside a process, over all threads, in the order of the table. */
export const CALL_COUNTS = [
  'opens',
  'reads',
  'writes',
  'stats',
  'syncs',
  'renames',
  'removals',
  'folders',
  'attributes',
  'statements',
  'commits',
  'threads',
  'modules',
  'moduleBytes',
  'bufferBytes',
  'sharedBytes',
] as const;

export type CallCount = (typeof CALL_COUNTS)[number];

export type CallCounts = Readonly<Record<CallCount, number>>;
