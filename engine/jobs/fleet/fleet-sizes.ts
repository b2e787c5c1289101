/** How work is divided where the request does not say it. */

/** Many, so that its own requests vanish beside those for its files; few enough to do again after a kill. */
export const PART_FILES_MAX = 20_000;
export const PART_BYTES_MAX = 64 * 1024 ** 3;
/** What S3 copies in one request. */
export const LARGE_BYTES = 5 * 1024 ** 3;
export const RANGES_WANTED = 64;
