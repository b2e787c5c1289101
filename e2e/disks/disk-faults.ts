/** What an odd disk refuses or bends. */

interface NamedFault {
  /** The end of the path. */
  readonly name: string;
  readonly errno: string;
}

export interface DiskFaults {
  /** Of `link`. */
  readonly links?: string;
  readonly symlinks?: string;
  /** Longer names are refused by ENAMETOOLONG. */
  readonly nameBytesMax?: number;
  /** Names that differ in case alone are one name, which stays as it was made. */
  readonly foldsCase?: boolean;
  /** `renameat2` with RENAME_NOREPLACE, which a disk without it refuses. */
  readonly renameNoReplace?: 'EINVAL';
  /** `mmap` of shared memory fails, as on 9p and FUSE disks with direct input and output. */
  readonly noSharedMemory?: boolean;
  readonly opens?: readonly NamedFault[];
  /** From this byte on; default: from the first. */
  readonly reads?: readonly (NamedFault & { readonly from?: number })[];
  /** Of files whose mode is set. `ignored`: it succeeds, and every file stays 0755. */
  readonly chmod?: 'EPERM' | 'ENOTSUP' | 'ignored';
  readonly utimes?: 'EPERM' | 'ENOTSUP' | 'ignored';
  /** Times are rounded down to a multiple of it. */
  readonly timeStepS?: number;
  /** Files whose `stat` says 0 bytes, whatever they hold. */
  readonly sizesOfZero?: readonly string[];
  readonly sizesOf4096?: readonly string[];
}
