/**
 * Remotes from other programs' settings: profiles of the AWS CLI (`~/.aws/config`, `~/.aws/credentials`) and
 * S3 remotes of rclone (`rclone.conf`). Never reads a secret: a URL names the profile, and the signer reads
 * the key.
 */
import type { ImportCandidate, KeySources } from '../../api/host/remotes.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import { profileFilesOf, readAwsSections, type Sections } from '../../remotes/s3/keys/aws-profile.ts';
import { keptKeysOf } from '../../remotes/s3/keys/kept-keys.ts';
import { RCLONE_PROFILE, readRcloneRemotes } from '../../remotes/s3/keys/rclone-remotes.ts';

type Environment = JobContext['environment'];
type Fields = Readonly<Record<string, string>>;

export async function findImportable(environment: Environment): Promise<ImportCandidate[]> {
  const [profiles, remotes] = await Promise.all([readProfiles(environment), readRcloneRemotes(environment)]);
  const ofAws = [...profiles].map(
    ([name, { endpoint_url: endpoint, region }]): ImportCandidate => ({
      from: 'aws',
      name,
      url: urlOf({ endpoint, region, profile: name }),
    }),
  );
  const ofRclone = [...remotes].map(
    ([name, fields]): ImportCandidate => ({ from: 'rclone', name, ...ofRcloneRemote(name, fields) }),
  );
  return [...ofAws, ...ofRclone];
}

/** The sources of a store's keys on this machine. */
export async function findKeySources(environment: Environment): Promise<KeySources> {
  const [profiles, remotes] = await Promise.all([readProfiles(environment), readRcloneRemotes(environment)]);
  const kept = keptKeysOf(environment);
  const withKeys = [...remotes].filter(([, fields]) => hasOwnKeys(fields));
  return {
    profiles: [
      ...[...kept.keys()].map((name) => ({ name, from: 'kept' as const })),
      ...[...profiles.keys()]
        .filter((name) => !kept.has(name))
        .map((name) => ({ name, from: 'aws' as const })),
      ...withKeys.map(([name]) => ({ name: `${RCLONE_PROFILE}${name}`, from: 'rclone' as const })),
    ],
    hasEnvironmentKeys: Boolean(environment.AWS_ACCESS_KEY_ID && environment.AWS_SECRET_ACCESS_KEY),
  };
}

async function readProfiles(environment: Environment): Promise<Sections> {
  const { config, credentials } = await readAwsSections(profileFilesOf(environment));
  const profiles = new Map<string, Fields>();
  for (const [section, fields] of config) {
    // `[default]`, `[profile NAME]`. Others, such as `[sso-session NAME]`, are not profiles.
    const name = section === 'default' ? section : /^profile (.+)$/.exec(section)?.[1];
    if (name !== undefined) profiles.set(name, fields);
  }
  for (const name of credentials.keys()) if (!profiles.has(name)) profiles.set(name, {});
  return profiles;
}

function ofRcloneRemote(name: string, fields: Fields): Pick<ImportCandidate, 'note' | 'url'> {
  const { endpoint, force_path_style: forcesPath, profile, region } = fields;
  const url = urlOf({
    endpoint: endpoint && !/^https?:/.test(endpoint) ? `https://${endpoint}` : endpoint,
    region,
    profile: hasOwnKeys(fields) ? `${RCLONE_PROFILE}${name}` : profile,
    pathStyle: endpoint && forcesPath === 'false' ? 'false' : undefined,
  });
  return hasOwnKeys(fields) ? { url, note: 'Its keys stay in rclone.conf; Dray reads them there.' } : { url };
}

function hasOwnKeys({ access_key_id: id, secret_access_key: secret }: Fields): boolean {
  return Boolean(id && secret);
}

/** Without a bucket: the user adds it at the import. */
function urlOf(facts: Readonly<Record<string, string | undefined>>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(facts)) if (value) parameters.set(name, value);
  const text = parameters.toString();
  return text === '' ? 's3://' : `s3://?${text}`;
}
