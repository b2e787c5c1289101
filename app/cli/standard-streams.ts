/** The process's own streams, for commands that read or write content through them. */
import type { JobContext } from '../../engine/api/jobs.ts';
import { writeContent } from './output/terminal.ts';

/** The input is opened when it is read: opened for nothing, it would hold back a terminal's next line. */
export function withStreams(context: JobContext): JobContext & Required<Pick<JobContext, 'standardOutput'>> {
  return {
    ...context,
    get standardInput() {
      return process.stdin;
    },
    standardOutput: writeContent,
  };
}
