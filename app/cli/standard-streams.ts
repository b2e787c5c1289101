/** The process's own streams, for commands that read or write content through them. */
import { once } from 'node:events';
import type { JobContext } from '../../engine/api/jobs.ts';

/** The input is opened when it is read: opened for nothing, it would hold back a terminal's next line. */
export function withStreams(context: JobContext): JobContext & Required<Pick<JobContext, 'standardOutput'>> {
  return {
    ...context,
    get standardInput() {
      return process.stdin;
    },
    standardOutput: writeOutput,
  };
}

/** Waits while the reader is slower. A reader that goes away ends the process (`run.ts`). */
async function writeOutput(chunk: Uint8Array): Promise<void> {
  // The memory is used again as soon as this resolves, and a stream that holds a chunk back has not looked at it yet.
  if (process.stdout.write(Buffer.from(chunk))) return;
  await once(process.stdout, 'drain');
}
