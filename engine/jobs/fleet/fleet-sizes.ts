/** The default sizes of ranges and parts. */

/** Large enough that a part's own requests hardly count, and small enough to repeat after a kill. */
export const PART_FILES_MAX = 20_000;
export const PART_BYTES_MAX = 64 * 1024 ** 3;
/** S3's limit of one copy request. */
export const LARGE_BYTES = 5 * 1024 ** 3;
export const RANGES_WANTED = 64;
