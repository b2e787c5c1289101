/**
 * `dray` as a utility process of the desktop app, for saved jobs. The program of a packaged app runs no
 * scripts (its fuse `runAsNode` is off), so `process.execPath` cannot start the command.
 */
import { run } from '../cli/run.ts';
import { STOP_MESSAGE } from './channels.ts';

// A signal would end a process of this kind at once on Windows. A message lets it stop in its own time.
process.parentPort.on('message', ({ data }) => {
  if (data === STOP_MESSAGE) process.emit('SIGTERM', 'SIGTERM');
});
void run(process.argv.slice(2));
