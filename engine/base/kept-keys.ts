/**
 * Keys of stores that a person typed into the window, as the engine gets them: profiles by name in one variable of its environment, which
 * is a value in memory and no process's own. A remote names its profile, so that no URL and no file of the engine's holds a key.
 */
import type { AccessKeys } from '../api/host.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const VARIABLE = 'DRAY_KEPT_KEYS';

/** By the profile's name. What makes no sense is left out. */
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

/** The environment with these too; of the same name the newer ones. */
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
