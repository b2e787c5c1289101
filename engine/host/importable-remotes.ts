/**
 * Remotes that other programs' settings offer: profiles of the AWS CLI (`~/.aws/config`, `~/.aws/credentials`) and remotes of rclone
 * (`rclone.conf`, those of type s3). Only where they are; no secret is read into anything.
 */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { ImportCandidate } from '../api/host.ts';
import type { JobContext } from '../api/jobs.ts';

type Environment = JobContext['environment'];
type Sections = ReadonlyMap<string, ReadonlyMap<string, string>>;

const FILE_BYTES_MAX = 1024 * 1024;

export function findImportable(environment: Environment): ImportCandidate[] {
  return [...awsProfiles(environment), ...rcloneRemotes(environment)];
}

function awsProfiles(environment: Environment): ImportCandidate[] {
  const folder = join(environment.HOME || homedir(), '.aws');
  const config = readSections(environment.AWS_CONFIG_FILE || join(folder, 'config'));
  const credentials = readSections(environment.AWS_SHARED_CREDENTIALS_FILE || join(folder, 'credentials'));
  const profiles = new Map<string, ReadonlyMap<string, string>>();
  for (const [section, fields] of config) {
    // `[default]`, `[profile NAME]`; others, such as `[sso-session NAME]`, are no profiles.
    const name = section === 'default' ? section : /^profile\s+(.+)$/.exec(section)?.[1];
    if (name !== undefined) profiles.set(name.replace(/^"(.*)"$/, '$1'), fields);
  }
  for (const name of credentials.keys()) if (!profiles.has(name)) profiles.set(name, new Map());
  return [...profiles].map(([name, fields]) => {
    const region = fields.get('region');
    const endpoint = fields.get('endpoint_url');
    return { from: 'aws', name, url: urlOf({ profile: name, region, endpoint }) };
  });
}

/** Where rclone 1.x looks: `RCLONE_CONFIG`, `~/.config/rclone/rclone.conf`, `%APPDATA%\rclone\rclone.conf`, `~/.rclone.conf`. */
function rcloneRemotes(environment: Environment): ImportCandidate[] {
  const home = environment.HOME || homedir();
  const { APPDATA, RCLONE_CONFIG, XDG_CONFIG_HOME } = environment;
  const paths = [
    RCLONE_CONFIG,
    APPDATA && join(APPDATA, 'rclone', 'rclone.conf'),
    join(XDG_CONFIG_HOME || join(home, '.config'), 'rclone', 'rclone.conf'),
    join(home, '.rclone.conf'),
  ];
  const sections = paths.map((path) => (path ? readSections(path) : undefined)).find((found) => found?.size);
  const candidates: ImportCandidate[] = [];
  for (const [name, fields] of sections ?? []) {
    if (fields.get('type') !== 's3') continue;
    const endpoint = fields.get('endpoint');
    const profile = fields.get('profile');
    const url = urlOf({
      profile,
      region: fields.get('region'),
      endpoint: endpoint && !/^https?:/.test(endpoint) ? `https://${endpoint}` : endpoint,
    });
    const hasOwnKeys = fields.get('access_key_id') !== undefined;
    const note =
      'Its keys are in rclone.conf, and Dray does not read them: put them into a profile of ~/.aws/credentials.';
    candidates.push({ from: 'rclone', name, url, ...(hasOwnKeys ? { note } : {}) });
  }
  return candidates;
}

/** Without a bucket: whoever imports it says which. */
function urlOf(facts: Readonly<Record<'endpoint' | 'profile' | 'region', string | undefined>>): string {
  const parameters = new URLSearchParams();
  for (const name of ['endpoint', 'region', 'profile'] as const)
    if (facts[name]) parameters.set(name, facts[name]);
  const text = parameters.toString();
  return text === '' ? 's3://' : `s3://?${text}`;
}

/** An ini file as both programs write it; empty when it is not there or cannot be read. */
function readSections(path: string): Sections {
  const sections = new Map<string, Map<string, string>>();
  let text = '';
  try {
    text = readFileSync(path, 'utf8').slice(0, FILE_BYTES_MAX);
  } catch {
    return sections;
  }
  let fields: Map<string, string> | undefined;
  for (const line of text.split(/\r?\n/)) {
    const header = /^\s*\[([^\]]+)\]/.exec(line);
    if (header) {
      const name = header[1]!.trim();
      fields = sections.get(name) ?? new Map();
      sections.set(name, fields);
      continue;
    }
    // An indented line belongs to a group such as `s3 =`.
    const field = /^([A-Za-z0-9_.-]+)\s*=\s*(.*?)\s*$/.exec(line);
    if (field && fields) fields.set(field[1]!, field[2]!);
  }
  return sections;
}
