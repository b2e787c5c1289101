/** How small files are sent to and from another machine: many in one request. */

/** Larger files get a request of their own. */
export const SENT_IN_BATCHES_BYTES_MAX = 256 * 1024;
export const BATCH_FILES = 256;
export const BATCH_BYTES = 2 * 1024 * 1024;
