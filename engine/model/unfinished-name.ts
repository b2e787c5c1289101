/** Names of unfinished files, which never belong to a dataset or copy. */
import { TEMPORARY_FOLDER_NAME } from '../base/temporary-owner.ts';

export { TEMPORARY_FOLDER_NAME };

/** Holds the documents of a fleet's job at its destination. */
export const FLEET_FOLDER_NAME = '.dray-fleet';

/**
 * Earlier versions wrote `.NAME.<12 hex>.dray-part` (delta) and `NAME.<12 hex>.dray-tmp` (a stream) beside
 * the file.
 */
const BESIDE = /\.[0-9a-f]{12}\.dray-(?:part|tmp)$/;

/** Whether a killed run of this or an earlier version left a file or folder of this name. */
export function isUnfinishedName(name: string): boolean {
  return name === TEMPORARY_FOLDER_NAME || isUnfinishedBeside(name);
}

/** Whether an earlier version gave this name to an unfinished file beside the finished one. */
export function isUnfinishedBeside(name: string): boolean {
  // The first comparison avoids the regular expression for nearly all names.
  return (name.endsWith('.dray-part') || name.endsWith('.dray-tmp')) && BESIDE.test(name);
}
