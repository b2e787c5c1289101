/**
 * The environment by which a child process reaches a test server and ignores the developer's own settings.
 */
import { join } from 'node:path';

export interface S3Access {
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** A folder without AWS configuration. */
  readonly home: string;
}

/** For a child process, or for `S3Options.environment`. */
export function createS3Environment(access: S3Access): Readonly<Record<string, string>> {
  return {
    AWS_ACCESS_KEY_ID: access.accessKeyId,
    AWS_SECRET_ACCESS_KEY: access.secretAccessKey,
    AWS_ENDPOINT_URL: access.endpoint,
    AWS_REGION: access.region,
    // Hides the developer's own profile.
    AWS_CONFIG_FILE: join(access.home, 'no-config'),
    AWS_SHARED_CREDENTIALS_FILE: join(access.home, 'no-credentials'),
    AWS_EC2_METADATA_DISABLED: 'true',
  };
}
