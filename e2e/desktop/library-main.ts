/** Electron's main process: uses the library in it, in a thread and in a utility process. */
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { app, utilityProcess } from 'electron';
import { type LibraryTask, runLibraryTask } from './use-library.ts';

const tasks: Readonly<Record<'main' | 'thread' | 'utility', LibraryTask>> = JSON.parse(
  process.env.DRAY_LIBRARY_TASKS!,
);
const script = new URL('./library-process.js', import.meta.url);
const environmentOf = (task: LibraryTask) => ({ ...process.env, DRAY_LIBRARY_TASK: JSON.stringify(task) });

// Not awaited: Electron becomes ready only after this module has run to its end.
app.whenReady().then(async () => {
  await runLibraryTask(tasks.main);
  await once(new Worker(script, { env: environmentOf(tasks.thread) }), 'exit');
  const utility = utilityProcess.fork(fileURLToPath(script), [], { env: environmentOf(tasks.utility) });
  await once(utility, 'exit');
  app.exit(0);
});
