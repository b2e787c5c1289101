/**
 * Runs `dray` in a utility process of the desktop app, for saved jobs. A packaged app runs no scripts (its
 * fuse `runAsNode` is off), so `process.execPath` cannot start the command.
 */
import { run } from '../cli/run.ts';
import { STOP_MESSAGE } from './channels.ts';

// On Windows, a signal would end a utility process at once. A message lets it stop cleanly.
process.parentPort.on('message', ({ data }) => {
  if (data === STOP_MESSAGE) process.emit('SIGTERM', 'SIGTERM');
});
void run(process.argv.slice(2));
