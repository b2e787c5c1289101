/** A process or thread that uses the library and ends. */
import { type LibraryTask, runLibraryTask } from './use-library.ts';

await runLibraryTask(JSON.parse(process.env.DRAY_LIBRARY_TASK!) as LibraryTask);
// A utility process waits for messages otherwise.
if (process.parentPort) process.exit(0);
