/** Commands of rclone, git and the like that Dray has under another name, or not at all. */
const MOVE = 'Nothing is moved in one step: "dray copy", then "dray check", then "dray rm" the source.';

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
  add: 'There is nothing to add: "dray push" stores all that changed.',
  commit: 'Use "dray push", which stores all that changed as a commit.',
  fetch: 'Use "dray pull", or "dray status --remote" to look only.',
  checkout: 'Use "dray switch" for a branch, "dray restore" for files.',
  reset: 'Use "dray restore".',
};

/** What to do instead; undefined for a name that no other tool is known to have. */
export function otherToolsCommand(name: string): string | undefined {
  return Object.hasOwn(HINTS, name) ? HINTS[name] : undefined;
}
