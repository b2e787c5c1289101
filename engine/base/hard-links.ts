/** Which failures of `link` mean that hard links cannot be had, so that another way has to be taken. */

/**
 * The system's codes for it: vfat, exFAT and many network disks (EPERM, ENOTSUP, ENOSYS), a file that has as
 * many names as it can (EMLINK), a union of disks or a sandbox such as gVisor (EXDEV), Android (EACCES).
 */
const NO_HARD_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV', 'EACCES']);

/** @param code The system's code of an error that `link` threw. */
export function lacksHardLinks(code: string | undefined): boolean {
  return code !== undefined && NO_HARD_LINKS.has(code);
}
