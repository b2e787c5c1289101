import { constants } from 'node:fs';

/** Opens a file for reading: follows no link, and does not wait for a pipe's writer. */
export const OPEN_TO_READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
