/** `dray config`: the workspace's settings, and the user's own. */
import { resolve } from 'node:path';
import { DrayError } from '../../api/error.ts';
import { type ConfigRequest, type JobContext, TRANSFERS_MAX } from '../../api/jobs/jobs.ts';
import { openSession, type Session } from '../session/open-workspace.ts';
import { changingSettings, readSafeDirectories, writeSafeDirectories } from '../session/user-remotes.ts';

interface Setting {
  readonly meaning: string;
  /** Returns why the value is not valid, or undefined. */
  readonly check: (session: Session, value: string) => string | undefined;
}

const SETTINGS: Readonly<Record<string, Setting>> = {
  author: {
    meaning: 'the author of commits (default: user@host)',
    check: (_session, value) =>
      value.trim() === '' || value.length > 1000 ? 'it needs 1 to 1,000 characters' : undefined,
  },
  transfers: {
    meaning: 'requests in flight (default: adaptive)',
    check: (_session, value) =>
      /^[1-9]\d{0,3}$/.test(value) && Number(value) <= TRANSFERS_MAX
        ? undefined
        : `it needs a number from 1 to ${TRANSFERS_MAX}`,
  },
  'remote.default': {
    meaning: 'the remote that commands use by default',
    check: (session, value) =>
      Object.hasOwn(session.config.remotes, value) ? undefined : 'there is no such remote',
  },
};

export async function config(
  context: JobContext,
  request: ConfigRequest,
): Promise<{ readonly settings: number }> {
  using session = await openSession(context, 'config', request.value === undefined ? 'shared' : 'exclusive');
  if (request.name === undefined) return listAll(session);
  const setting = SETTINGS[request.name];
  if (!setting) {
    const known = Object.entries(SETTINGS).map(([name, { meaning }]) => `${name} (${meaning})`);
    throw new DrayError('usage', `There is no setting "${request.name}". Settings: ${known.join('; ')}.`, {
      data: { name: request.name },
    });
  }
  if (request.value === undefined) return emitSetting(session, request.name);
  if (request.value === null) return unset(session, request.name);
  const reason = setting.check(session, request.value);
  if (reason) throw new DrayError('usage', `${request.name} cannot be "${request.value}": ${reason}.`);
  if (request.name === 'remote.default')
    session.saveConfig({ ...session.config, defaultRemote: request.value });
  else
    session.saveConfig({
      ...session.config,
      settings: { ...session.config.settings, [request.name]: request.value },
    });
  return { settings: 1 };
}

const SAFE_DIRECTORY = 'safe.directory';

/** `dray config --user`: adds a value to the existing ones. @throws DrayError `usage`, `io` */
export async function userConfig(
  context: JobContext,
  { name, value }: ConfigRequest,
): Promise<{ readonly settings: number }> {
  if (name !== undefined && name !== SAFE_DIRECTORY)
    throw new DrayError(
      'usage',
      `There is no user setting "${name}". The only one is ${SAFE_DIRECTORY}: a workspace of another user that you trust, or * for all.`,
      { data: { name } },
    );
  const known = readSafeDirectories(context);
  if (value === undefined) {
    for (const directory of known) context.emit({ type: 'setting', name: SAFE_DIRECTORY, value: directory });
    return { settings: known.length };
  }
  if (value === '') throw new DrayError('usage', `${SAFE_DIRECTORY} needs the path of a workspace, or *.`);
  const added = value === null ? [] : [value === '*' ? value : resolve(context.directory, value)];
  await changingSettings(context, () => {
    const kept = value === null ? [] : readSafeDirectories(context);
    writeSafeDirectories(context, [...new Set([...kept, ...added])]);
  });
  return { settings: value === null ? known.length : 1 };
}

function valueOfSetting(session: Session, name: string): string | undefined {
  return name === 'remote.default' ? session.config.defaultRemote : session.config.settings[name];
}

function listAll(session: Session): { readonly settings: number } {
  let settings = 0;
  for (const name of Object.keys(SETTINGS)) settings += emitSetting(session, name).settings;
  return { settings };
}

function emitSetting(session: Session, name: string): { readonly settings: number } {
  const value = valueOfSetting(session, name);
  if (value === undefined) return { settings: 0 };
  session.context.emit({ type: 'setting', name, value });
  return { settings: 1 };
}

function unset(session: Session, name: string): { readonly settings: number } {
  if (name === 'remote.default')
    throw new DrayError('usage', 'remote.default cannot be unset; set it to another remote.');
  const { [name]: removed, ...settings } = session.config.settings;
  session.saveConfig({ ...session.config, settings });
  return { settings: removed === undefined ? 0 : 1 };
}
