/** Turns a form into a job. The command's own parser reads and checks it, because only it knows its words. */
import { homedir } from 'node:os';
import * as v from 'valibot';
import { DrayError, type ErrorRecord, fromErrorRecord } from '../../api/error.ts';
import type { SavedJobDraft } from '../../api/host/saved.ts';
import type { ConnectionFlags } from '../../api/jobs/jobs.ts';
import { checkJobName, refuseSecrets, SAVED_JOB } from '../../jobs/saved/saved-job.ts';
import type { JobDefinition } from '../../jobs/saved/saved-jobs.ts';
import type { HostState } from '../host-state.ts';
import { ownDray } from './own-dray.ts';

const DEFINITION = v.pick(SAVED_JOB, ['name', 'kind', 'places', 'arguments', 'directory', 'triggers']);

/**
 * A new job gets the flags of `dray ui`, as all that its window does. An edited one keeps its own.
 * @throws what the command throws
 */
export async function defineByCommand(
  host: HostState,
  { isNew, ...draft }: SavedJobDraft & { readonly isNew: boolean },
  signal: AbortSignal,
): Promise<JobDefinition> {
  checkJobName(draft.name);
  // Before the words are seen by other users, in the list of processes.
  refuseSecrets(draft.words);
  const { environment } = host;
  const { exitCode, output } = await ownDray(host).run({
    words: [...(isNew ? flagsOf(host.connectionFlags()) : []), ...wordsOf(draft)],
    environment,
    takesOutput: true,
    signal,
  });
  if (exitCode !== 0) throw errorIn(output);
  return definitionIn(output);
}

/** The settings decide how many requests are in flight, so that flag is left out. */
function flagsOf({ anonymous, endpoint, pathStyle, profile, region }: ConnectionFlags): string[] {
  return [
    ...(endpoint === undefined ? [] : [`--endpoint=${endpoint}`]),
    ...(region === undefined ? [] : [`--region=${region}`]),
    ...(profile === undefined ? [] : [`--profile=${profile}`]),
    ...(pathStyle ? ['--path-style'] : []),
    ...(anonymous ? ['--anonymous'] : []),
  ];
}

/** A value after `=` is no option, whatever it begins with. */
function wordsOf(draft: SavedJobDraft): string[] {
  const { atLogin, cron = [], daily, directory = homedir(), every, name, onChange, words } = draft;
  const { onMount = [], settle } = draft;
  return [
    ...['job', 'add', '--dry-run', '--json', '-C', directory],
    ...(every === undefined ? [] : [`--every=${every}`]),
    ...(daily === undefined ? [] : [`--daily=${daily}`]),
    ...cron.map((fields) => `--cron=${fields}`),
    ...(onChange ? ['--on-change'] : []),
    ...(settle === undefined ? [] : [`--settle=${settle}`]),
    ...onMount.map((path) => `--on-mount=${path}`),
    ...(atLogin ? ['--at-login'] : []),
    ...[name, '--', ...words],
  ];
}

function definitionIn(output: string): JobDefinition {
  for (const record of recordsIn(output)) {
    const found = v.safeParse(DEFINITION, record);
    if (found.success) return found.output;
  }
  throw noAnswer();
}

function errorIn(output: string): DrayError {
  for (const record of recordsIn(output)) {
    const { code, data, message, type } = record as ErrorRecord & { readonly type?: string };
    if (type === 'error') return fromErrorRecord({ code, message, retry: 'no', data });
  }
  return noAnswer();
}

/** The newest first. */
function recordsIn(output: string): unknown[] {
  return output
    .trim()
    .split('\n')
    .reverse()
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as unknown];
      } catch {
        // Not a line of JSON.
        return [];
      }
    });
}

function noAnswer(): DrayError {
  return new DrayError('internal', 'The command that checks the job ended without an answer.');
}
