/** How a child process is told to reach a server of the tests, and kept from all that is the developer's own. */
import { join } from 'node:path';

export interface S3Access {
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** A folder in which there is no AWS configuration. */
  readonly home: string;
}

/** For a child process, or for `S3Options.environment`. */
export function createS3Environment(access: S3Access): Readonly<Record<string, string>> {
  return {
    AWS_ACCESS_KEY_ID: access.accessKeyId,
    AWS_SECRET_ACCESS_KEY: access.secretAccessKey,
    AWS_ENDPOINT_URL: access.endpoint,
    AWS_REGION: access.region,
    // The developer's own profile must not meddle.
    AWS_CONFIG_FILE: join(access.home, 'no-config'),
    AWS_SHARED_CREDENTIALS_FILE: join(access.home, 'no-credentials'),
    AWS_EC2_METADATA_DISABLED: 'true',
  };
}
