/** Adds a job through the command itself, whose parser reads and checks the words. */
import { homedir } from 'node:os';
import { DrayError, type ErrorRecord, fromErrorRecord } from '../../api/error.ts';
import type { SavedJobDraft } from '../../api/host/saved.ts';
import { checkJobName, refuseSecrets } from '../../jobs/saved/saved-job.ts';
import type { HostState } from '../host-state.ts';
import { ownDray } from './own-dray.ts';

/** @throws what the command throws */
export async function addByCommand(
  host: HostState,
  draft: SavedJobDraft,
  signal: AbortSignal,
): Promise<void> {
  checkJobName(draft.name);
  // Before the words are seen by other users, in the list of processes.
  refuseSecrets(draft.words);
  const { environment } = host;
  const { exitCode, output } = await ownDray(host).run({
    words: wordsOf(draft),
    environment,
    takesOutput: true,
    signal,
  });
  if (exitCode !== 0) throw errorIn(output);
}

/** A value after `=` is no option, whatever it begins with. */
function wordsOf(draft: SavedJobDraft): string[] {
  const { atLogin, cron, daily, directory = homedir(), every, name, onChange, onMount, words } = draft;
  return [
    ...['job', 'add', '--json', '-C', directory],
    ...(every === undefined ? [] : [`--every=${every}`]),
    ...(daily === undefined ? [] : [`--daily=${daily}`]),
    ...(cron === undefined ? [] : [`--cron=${cron}`]),
    ...(onChange ? ['--on-change'] : []),
    ...(onMount === undefined ? [] : [`--on-mount=${onMount}`]),
    ...(atLogin ? ['--at-login'] : []),
    ...[name, '--', ...words],
  ];
}

function errorIn(output: string): DrayError {
  for (const line of output.trim().split('\n').reverse()) {
    try {
      const { code, data, message, type } = JSON.parse(line) as ErrorRecord & { readonly type?: string };
      if (type === 'error') return fromErrorRecord({ code, message, retry: 'no', data });
    } catch {
      // Not a line of JSON.
    }
  }
  return new DrayError('internal', 'The command that adds the job ended without an answer.');
}
