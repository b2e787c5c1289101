/** Passwords of encrypted repositories. None is kept; the engine holds the master keys that they open. */
import type { PasswordChange } from '../api/host/passwords.ts';
import type { JobContext } from '../api/jobs/jobs.ts';
import type { KeyChangeSummary } from '../api/jobs/repositories.ts';
import { type HandlersOf, jobContextOf } from './port/host-call.ts';

export const PASSWORDS: HandlersOf<'passwords'> = {
  'passwords.list': async (_input, { host }) => ({ repositories: host.masterKeys.list() }),
  'passwords.unlock': async ({ password, ...repository }, { host }) => {
    await host.unlock(repository, password);
    return {};
  },
  'passwords.lock': async (repository, { host }) => {
    host.masterKeys.drop(repository);
    return {};
  },
  'passwords.keys': async ({ root }, call) => {
    const { listKeys } = await import('../jobs/remotes/keys.ts');
    return listKeys(jobContextOf(call, root));
  },
  'passwords.change': async ({ change, password, root }, call) =>
    runChange(withTyped(jobContextOf(call, root), password, newOf(change)), change),
};

async function runChange(context: JobContext, change: PasswordChange): Promise<KeyChangeSummary> {
  const { addKey, changePassword, removeKey } = await import('../jobs/remotes/keys.ts');
  switch (change.kind) {
    case 'add':
      return addKey(context, { kind: 'password', label: change.label });
    case 'addRecovery':
      return addKey(context, { kind: 'recovery', label: change.label });
    case 'replace':
      return changePassword(context);
    case 'remove':
      return removeKey(context, change.id);
  }
}

/**
 * A job with these answers to its questions: first the password, then the new one. Those of the environment
 * do not count, because they would win.
 */
export function withTyped(context: JobContext, password: string, newPassword = password): JobContext {
  let isFirst = true;
  const named = Object.entries(context.environment).filter(
    ([name]) => !/^DRAY_(?:NEW_)?PASSWORD(?:_FILE|_COMMAND)?$/.test(name),
  );
  return {
    ...context,
    environment: Object.fromEntries(named),
    askPassword: async () => {
      const answer = isFirst ? password : newPassword;
      isFirst = false;
      return answer;
    },
  };
}

function newOf(change: PasswordChange): string | undefined {
  return 'newPassword' in change ? change.newPassword : undefined;
}
