/** Commands of rclone, git and others that Dray has under another name, or not at all. */
const MOVE = 'Dray has no move. Use "dray copy", then "dray check", then "dray rm" on the source.';

const HINTS: Readonly<Record<string, string>> = {
  mv: MOVE,
  move: MOVE,
  moveto: MOVE,
  rename: MOVE,
  cp: 'Use "dray copy".',
  copyto: 'Use "dray copy".',
  get: 'Use "dray copy".',
  put: 'Use "dray copy".',
  rsync: 'Use "dray sync", or "dray copy", which deletes nothing.',
  mirror: 'Use "dray sync".',
  lsf: 'Use "dray ls -r".',
  lsl: 'Use "dray ls -r -l".',
  lsd: 'Use "dray ls".',
  size: 'Use "dray du".',
  delete: 'Use "dray rm".',
  purge: 'Use "dray rm -r".',
  cleanup: 'Use "dray uploads abort".',
  prune: 'Use "dray gc". "dray forget" decides which commits stay.',
  add: 'Dray has no staging. "dray push" stores all changes.',
  commit: 'Use "dray push", which stores all changes as a commit.',
  fetch: 'Use "dray pull", or "dray status --remote" to change nothing.',
  checkout: 'Use "dray switch" for a branch, "dray restore" for files.',
  reset: 'Use "dray restore".',
};

/** The hint for another tool's command name. Undefined for unknown names. */
export function otherToolsCommand(name: string): string | undefined {
  return Object.hasOwn(HINTS, name) ? HINTS[name] : undefined;
}
