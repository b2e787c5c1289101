/** The processes of `dray` that this engine has started: runs of saved jobs can be stopped by their names. */
import { DrayError } from '../../api/error.ts';
import type { RunDray } from '../../jobs/saved/dray-process.ts';

export interface OwnDray {
  readonly run: RunDray;
  /** Asks the run of this job to stop. @returns False if it was not started here. */
  stopJob(name: string): boolean;
  /** Whether this process is the one that starts due jobs. */
  isServing: boolean;
}

/** @throws `unsupported` */
export function ownDray({ dray }: { readonly dray?: OwnDray }): OwnDray {
  if (dray) return dray;
  throw new DrayError('unsupported', 'This window cannot run commands, and so no jobs.');
}

export function createOwnDray(run: RunDray): OwnDray {
  const jobs = new Map<string, AbortController>();
  return {
    isServing: false,
    async run(asked) {
      const [group, verb, name = ''] = asked.words;
      if (group !== 'job' || verb !== 'run' || jobs.has(name)) return run(asked);
      const stopping = new AbortController();
      jobs.set(name, stopping);
      try {
        return await run({ ...asked, signal: AbortSignal.any([asked.signal, stopping.signal]) });
      } finally {
        jobs.delete(name);
      }
    },
    stopJob(name) {
      const stopping = jobs.get(name);
      stopping?.abort();
      return stopping !== undefined;
    },
  };
}
