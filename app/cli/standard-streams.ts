/** The process's own streams, for commands that read or write content through them. */
import type { JobContext } from '../../engine/api/jobs/jobs.ts';
import { writeContent } from './output/terminal.ts';

/** Opens standard input only when it is read: opening it for nothing would swallow a terminal's next line. */
export function withStreams(context: JobContext): JobContext & Required<Pick<JobContext, 'standardOutput'>> {
  return {
    ...context,
    get standardInput() {
      return process.stdin;
    },
    standardOutput: writeContent,
  };
}
