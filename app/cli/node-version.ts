/** The version check. It must work on every Node: no recent syntax, no imports. */
export const NODE_REQUIRED = '22.19.0';

/** @param found In the form of `process.versions.node`, such as `20.20.2`. */
export function isNodeNewEnough(found: string): boolean {
  const have = found.split('.').map(Number);
  const need = NODE_REQUIRED.split('.').map(Number);
  for (let at = 0; at < need.length; at += 1) {
    const difference = (have[at] || 0) - (need[at] || 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}
