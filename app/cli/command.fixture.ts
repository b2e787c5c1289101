import { fileURLToPath } from 'node:url';

/**
 * The script that tests run as `dray`: the build that `npm test` has just made, which starts three times as
 * fast, or else the sources.
 */
export const COMMAND = process.env.DRAY_TEST_COMMAND ?? fileURLToPath(new URL('./main.ts', import.meta.url));
