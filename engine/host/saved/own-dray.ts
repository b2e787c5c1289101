/** The processes of `dray` that this engine has started. Runs of saved jobs can be stopped by name. */
import { DrayError } from '../../api/error.ts';
import type { RunDray } from '../../jobs/saved/dray-process.ts';

export interface OwnDray {
  readonly run: RunDray;
  /** Stops the run of this job. @returns False if this engine did not start it. */
  stopJob(name: string): boolean;
  /** True while this process starts the due jobs. */
  isServing: boolean;
}

/** @throws `unsupported` */
export function ownDray({ dray }: { readonly dray?: OwnDray }): OwnDray {
  if (dray) return dray;
  throw new DrayError('unsupported', 'This window cannot run jobs, because it cannot start processes.');
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
