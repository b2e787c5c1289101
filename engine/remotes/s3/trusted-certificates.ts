/** The certificate authorities that connections to an S3 store trust. */
import { readFileSync } from 'node:fs';
import { DrayError } from '../../api/error.ts';
import type { AwsProfile } from './keys/aws-profile.ts';
import type { S3Options } from './s3-options.ts';

/**
 * The file that `AWS_CA_BUNDLE` or the profile's `ca_bundle` names, as in the AWS CLI. @throws `usage` when
 * it holds no certificate.
 */
export function readAuthorities(
  { environment }: Pick<S3Options, 'environment'>,
  { settings }: AwsProfile,
): string | undefined {
  const path = environment.AWS_CA_BUNDLE || settings.ca_bundle;
  if (!path) return undefined;
  const refuse = (what: string, cause?: unknown) =>
    new DrayError('usage', `${path}, the file of trusted certificates, ${what}.`, {
      data: { path },
      advice: 'AWS_CA_BUNDLE names it, or ca_bundle of the profile.',
      cause,
    });
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw refuse('cannot be read', cause);
  }
  if (!/^-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----/m.test(text))
    throw refuse('holds no certificates in PEM form');
  return text;
}
