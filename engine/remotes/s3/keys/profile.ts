/** Reads the profile that a remote names, from the AWS settings or from rclone's. */

import type { S3Options } from '../s3-options.ts';
import { type AwsProfile, readAwsProfile } from './aws-profile.ts';
import { keptKeysOf } from './kept-keys.ts';
import { RCLONE_PROFILE, readRcloneProfile } from './rclone-remotes.ts';

/**
 * Typed keys come first; those named `default` serve remotes without a profile.
 * @throws `usage` when no profile has that name.
 */
export async function readProfile({
  environment,
  profile,
}: Pick<S3Options, 'environment' | 'profile'>): Promise<AwsProfile> {
  const name = profile || environment.AWS_PROFILE || 'default';
  const kept = keptKeysOf(environment).get(name);
  if (kept) {
    const { accessKeyId, secretAccessKey, sessionToken } = kept;
    const settings = {
      aws_access_key_id: accessKeyId,
      aws_secret_access_key: secretAccessKey,
      ...(sessionToken === undefined ? {} : { aws_session_token: sessionToken }),
    };
    return { name, settings };
  }
  if (profile?.startsWith(RCLONE_PROFILE)) return readRcloneProfile(profile, environment);
  return readAwsProfile({ profile, environment });
}
