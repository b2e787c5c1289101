/**
 * Finds the credentials: plain keys of the environment or the profile, all others by the AWS SDK's chain.
 */
import { DrayError } from '../../../api/error.ts';
import type { S3Options } from '../s3-options.ts';
import { type AwsProfile, profileFilesOf } from './aws-profile.ts';

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
}

/** Called before every signature. It caches credentials, and refreshes those that expire. */
export type CredentialSource = () => Promise<Credentials>;

/** Settings that make a profile more than a pair of keys. */
const INDIRECT_SETTINGS = [
  'role_arn',
  'sso_session',
  'sso_start_url',
  'credential_process',
  'web_identity_token_file',
  'login_session',
];

/**
 * Resolved in the order of the AWS CLI: a profile asked for by flag, keys in the environment, `AWS_PROFILE`
 * or the default profile, then single sign-on, processes, containers and instance metadata by the SDK's
 * chain.
 * @throws `noCredentials`, from the source's call.
 */
export function credentialSourceOf(options: S3Options, profile: AwsProfile): CredentialSource {
  const direct = (options.profile ? undefined : fromEnvironment(options.environment)) ?? fromProfile(profile);
  if (direct) return async () => direct;
  let chain: Promise<CredentialSource> | undefined;
  const renew = async () => {
    chain ??= openChain(options, profile);
    return (await chain)();
  };
  return keptWhileValid(renew, (failure) => noCredentials(options, profile, failure));
}

interface RenewalFailure {
  readonly cause: unknown;
  /** Credentials were found before. */
  readonly isRenewal: boolean;
}

/**
 * Credentials are renewed some minutes before they expire. If that fails, the old ones serve until then.
 */
export function keptWhileValid(
  renew: CredentialSource,
  refused: (failure: RenewalFailure) => DrayError,
  nowMs: () => number = Date.now,
): CredentialSource {
  let last: Credentials | undefined;
  return async () => {
    try {
      last = await renew();
      return last;
    } catch (cause) {
      const expiresMs = last?.expiration?.getTime() ?? Number.POSITIVE_INFINITY;
      if (last && nowMs() < expiresMs) return last;
      throw refused({ cause, isRenewal: last !== undefined });
    }
  };
}

/**
 * Identifies the signer without the SDK's chain: an access key, or a profile's name.
 */
export function identityOf(options: S3Options, profile: AwsProfile): string {
  if (options.anonymous) return 'nobody';
  const direct = (options.profile ? undefined : fromEnvironment(options.environment)) ?? fromProfile(profile);
  return direct ? `key ${direct.accessKeyId}` : `profile ${profile.name}`;
}

function fromEnvironment(environment: S3Options['environment']): Credentials | undefined {
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
  } = environment;
  if (!accessKeyId || !secretAccessKey) return undefined;
  return { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) };
}

function fromProfile({ settings }: AwsProfile): Credentials | undefined {
  const {
    aws_access_key_id: accessKeyId,
    aws_secret_access_key: secretAccessKey,
    aws_session_token: sessionToken,
  } = settings;
  if (!accessKeyId || !secretAccessKey || INDIRECT_SETTINGS.some((name) => name in settings))
    return undefined;
  return { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) };
}

async function openChain(options: S3Options, profile: AwsProfile): Promise<CredentialSource> {
  const { fromNodeProviderChain } = await import('@aws-sdk/credential-providers');
  const files = profileFilesOf(options.environment);
  const region = options.region || options.environment.AWS_REGION || profile.settings.region;
  return fromNodeProviderChain({
    // Naming the default profile would make the chain skip containers and instance metadata.
    ...(profile.name === 'default' && !options.profile ? {} : { profile: profile.name }),
    filepath: files.credentialsFile,
    configFilepath: files.configFile,
    ...(region ? { clientConfig: { region } } : {}),
  });
}

/** A source that gave credentials before may do so again, so the error is retryable. */
function noCredentials(
  options: S3Options,
  profile: AwsProfile,
  { cause, isRenewal }: RenewalFailure,
): DrayError {
  const detail = cause instanceof Error && profile.name !== 'default' ? ` (${cause.message})` : '';
  const advice =
    'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a profile of ~/.aws with --profile or AWS_PROFILE. ' +
    'A public bucket needs none: --anonymous.';
  const where = options.profile ? ` in the profile "${options.profile}"` : '';
  return new DrayError(
    'noCredentials',
    `No credentials were found${where} for the bucket ${options.bucket}${detail}.`,
    {
      advice,
      retry: isRenewal ? 'retry' : 'no',
      data: { bucket: options.bucket, profile: profile.name },
      cause,
    },
  );
}
