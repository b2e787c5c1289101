/** Other programs that know a store: a profile in ~/.aws, and a remote in rclone.conf. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { S3Endpoint } from '../../servers/versitygw.ts';

/** Writes the profile `lab` and rclone's remote `my store` into a home. */
export function writeOtherPrograms(home: string, server: S3Endpoint): void {
  const { accessKeyId, endpoint, secretAccessKey } = server;
  const files = {
    '.aws/config': ['[profile lab]', 'region = us-east-1', `endpoint_url = ${endpoint}`],
    '.aws/credentials': [
      '[lab]',
      `aws_access_key_id = ${accessKeyId}`,
      `aws_secret_access_key = ${secretAccessKey}`,
    ],
    '.config/rclone/rclone.conf': [
      '[my store]',
      'type = s3',
      'provider = Other',
      `access_key_id = ${accessKeyId}`,
      `secret_access_key = ${secretAccessKey}`,
      `endpoint = ${endpoint}`,
    ],
  };
  for (const [path, lines] of Object.entries(files)) {
    const whole = join(home, path);
    mkdirSync(dirname(whole), { recursive: true });
    writeFileSync(whole, `${lines.join('\n')}\n`);
  }
}
