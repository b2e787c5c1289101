/**
 * The remotes of type s3 in rclone's own settings. `profile=rclone:NAME` in a URL signs with the keys of such
 * a remote, which stay in that file. Source: rclone's documentation, "Configure" and "Amazon S3"; only the
 * passwords of other backends are obscured.
 */
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { DrayError } from '../../../api/error.ts';
import { type AwsProfile, type Environment, parseSections, type Sections } from './aws-profile.ts';

/** The prefix of a profile that names a remote of rclone. */
export const RCLONE_PROFILE = 'rclone:';

/** By name. Empty without rclone's settings, or when they are encrypted. */
export async function readRcloneRemotes(environment: Environment): Promise<Sections> {
  for (const path of pathsOf(environment)) {
    const text = await readFile(path, 'utf8').catch(() => undefined);
    if (text === undefined) continue;
    return new Map([...parseSections(text)].filter(([, { type }]) => type === 's3'));
  }
  return new Map();
}

/** The keys of one remote, as a profile. @throws `usage` when no remote has that name. */
export async function readRcloneProfile(name: string, environment: Environment): Promise<AwsProfile> {
  const fields = (await readRcloneRemotes(environment)).get(name.slice(RCLONE_PROFILE.length));
  if (!fields)
    throw new DrayError('usage', `rclone has no S3 remote "${name.slice(RCLONE_PROFILE.length)}".`, {
      data: { profile: name },
    });
  const settings = {
    aws_access_key_id: fields.access_key_id,
    aws_secret_access_key: fields.secret_access_key,
    aws_session_token: fields.session_token,
  };
  const filled = Object.entries(settings).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return { name, settings: Object.fromEntries(filled) };
}

/**
 * Where rclone 1.x looks: `RCLONE_CONFIG`, `%APPDATA%\rclone\rclone.conf`, `~/.config/rclone/rclone.conf`,
 * `~/.rclone.conf`.
 */
function pathsOf({ APPDATA, HOME, RCLONE_CONFIG, XDG_CONFIG_HOME }: Environment): readonly string[] {
  if (RCLONE_CONFIG) return [RCLONE_CONFIG];
  const home = HOME || homedir();
  return [
    ...(APPDATA ? [join(APPDATA, 'rclone', 'rclone.conf')] : []),
    join(XDG_CONFIG_HOME || join(home, '.config'), 'rclone', 'rclone.conf'),
    join(home, '.rclone.conf'),
  ];
}
