/**
 * The user's profile in `~/.aws/config` and `~/.aws/credentials`, as far as a fast start needs it: region,
 * endpoint and plain keys. The SDK resolves profiles with roles, SSO or processes.
 * Source: the AWS SDKs and Tools Reference Guide, "Shared config and credentials files".
 */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { DrayError } from '../../../api/error.ts';

export interface AwsProfile {
  readonly name: string;
  /** From both files; the credentials file wins. */
  readonly settings: Readonly<Record<string, string>>;
  /** `endpoint_url` under `s3 =` in the `services` section that the profile names. */
  readonly s3EndpointUrl?: string;
}

export interface ProfileFiles {
  readonly configFile: string;
  readonly credentialsFile: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;
export type Sections = ReadonlyMap<string, Readonly<Record<string, string>>>;

export function profileFilesOf(environment: Environment): ProfileFiles {
  const home = environment.HOME || environment.USERPROFILE || homedir();
  return {
    configFile: environment.AWS_CONFIG_FILE || join(home, '.aws', 'config'),
    credentialsFile: environment.AWS_SHARED_CREDENTIALS_FILE || join(home, '.aws', 'credentials'),
  };
}

/** @throws `usage` when a profile is named and neither file has it */
export async function readAwsProfile(options: {
  readonly profile: string | undefined;
  readonly environment: Environment;
}): Promise<AwsProfile> {
  const asked = options.profile || options.environment.AWS_PROFILE || undefined;
  const name = asked ?? 'default';
  const files = profileFilesOf(options.environment);
  const { config, credentials } = await readAwsSections(files);
  const fromConfig =
    config.get(`profile ${name}`) ?? (name === 'default' ? config.get('default') : undefined);
  const fromCredentials = credentials.get(name);
  if (asked !== undefined && asked !== 'default' && !fromConfig && !fromCredentials) {
    throw new DrayError(
      'usage',
      `There is no profile "${asked}" in ${files.configFile} or ${files.credentialsFile}.`,
      { data: { profile: asked, reason: 'noProfile' } },
    );
  }
  const settings = { ...fromConfig, ...fromCredentials };
  const s3EndpointUrl = settings.services && config.get(`services ${settings.services}`)?.['s3.endpoint_url'];
  return { name, settings, ...(s3EndpointUrl ? { s3EndpointUrl } : {}) };
}

/** The text of both files. Empty for a missing one. */
export async function readAwsSections({
  configFile,
  credentialsFile,
}: ProfileFiles): Promise<{ readonly config: Sections; readonly credentials: Sections }> {
  return { config: readSections(configFile), credentials: readSections(credentialsFile) };
}

/**
 * Synchronous: the files are small, and loading Node's promises of files takes longer than reading them.
 */
function readSections(file: string): Sections {
  try {
    return parseSections(readFileSync(file, 'utf8'));
  } catch (error) {
    // A file that cannot be read counts as missing: most stores need neither file.
    if (error instanceof Error && 'code' in error) return new Map();
    throw error;
  }
}

/**
 * Parses INI as the AWS tools write it: sections, `key = value`, and indented lines below a key without a
 * value. It reads each character a fixed number of times.
 */
export function parseSections(text: string): Sections {
  const sections = new Map<string, Record<string, string>>();
  let section: Record<string, string> | undefined;
  let parent = '';
  for (const line of text.split('\n')) {
    const content = line.trim();
    if (content === '' || content.startsWith('#') || content.startsWith(';')) continue;
    const header = line.startsWith('[') ? headerOf(line) : '';
    if (header !== '') {
      section = sections.get(header) ?? Object.create(null);
      sections.set(header, section!);
      parent = '';
      continue;
    }
    const equals = content.indexOf('=');
    const key = content.slice(0, Math.max(equals, 0)).trimEnd();
    if (key === '' || !section) continue;
    const value = withoutComment(content.slice(equals + 1).trimStart());
    const isIndented = line.trimStart().length < line.length;
    if (isIndented && parent !== '') section[`${parent}.${key}`] = value;
    else if (value === '') parent = key;
    else section[key] = value;
    if (!isIndented && value !== '') parent = '';
  }
  return sections;
}

/** '' without a value. */
function headerOf(line: string): string {
  const end = line.indexOf(']');
  return line.slice(1, Math.max(end, 1)).trim().replace(/\s+/g, ' ').replaceAll('"', '');
}

/** A comment begins with white space and a mark. */
function withoutComment(value: string): string {
  for (let at = 1; at < value.length; at += 1) {
    const isMark = value[at] === '#' || value[at] === ';';
    if (isMark && value.charAt(at - 1).trim() === '') return value.slice(0, at - 1).trimEnd();
  }
  return value;
}
