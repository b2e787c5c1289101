/**
 * Store keys that the user typed into the window. The engine gets them as profiles in one variable of its
 * environment, which exists only in memory. A remote names its profile, so no URL and no file of the engine
 * holds a key.
 */
import type { AccessKeys } from '../../../api/host/remotes.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const VARIABLE = 'DRAY_KEPT_KEYS';

/** The keys by profile name. Invalid entries are left out. */
export function keptKeysOf(environment: Environment): ReadonlyMap<string, AccessKeys> {
  const text = environment[VARIABLE];
  if (!text) return new Map();
  try {
    const entries = Object.entries(JSON.parse(text) as Record<string, unknown>);
    return new Map(entries.filter((entry): entry is [string, AccessKeys] => isAccessKeys(entry[1])));
  } catch {
    return new Map();
  }
}

/** The environment with these keys added; newer ones replace older ones of the same name. */
export function withKeptKeys(
  environment: Environment,
  keys: Readonly<Record<string, AccessKeys>>,
): Environment {
  const all = { ...Object.fromEntries(keptKeysOf(environment)), ...keys };
  return { ...environment, [VARIABLE]: JSON.stringify(all) };
}

export function isAccessKeys(value: unknown): value is AccessKeys {
  if (typeof value !== 'object' || value === null) return false;
  const { accessKeyId, secretAccessKey, sessionToken } = value as Record<keyof AccessKeys, unknown>;
  return (
    isFilled(accessKeyId) &&
    isFilled(secretAccessKey) &&
    (sessionToken === undefined || isFilled(sessionToken))
  );
}

function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
