/**
 * Keeps the keys of stores for the engine, because a program started from a dock gets none from a shell. A
 * pair of keys has the name that a remote calls its profile. The system's keyring encrypts them, only the
 * user can read the file, and only the engine's environment gets them decrypted. The engine keeps the tokens
 * of other machines: see `engine/jobs/remotes/login.ts`.
 */
import { existsSync, readFileSync, renameSync } from 'node:fs';
import type { AccessKeys } from '../../engine/api/host/remotes.ts';
import type { SecretsState } from '../../engine/api/window/desktop-bridge.ts';
import { replaceFile } from '../../engine/base/replace-file.ts';
import { isAccessKeys, withKeptKeys } from '../../engine/remotes/s3/keys/kept-keys.ts';
import type { Electron } from './electron-parts.ts';

const VALUE_LENGTH_MAX = 8_192;
const PROFILES_MAX = 200;

const WARNING_BASIC_TEXT =
  'This desktop offers no keyring. Electron would encrypt with a key that everybody knows, so nothing can be saved here. Install GNOME Keyring or KWallet, or keep keys in ~/.aws.';
const WARNING_UNAVAILABLE =
  'This system offers Dray no way to encrypt what it saves, so nothing can be saved here. Keep keys in ~/.aws.';

export interface Secrets {
  readonly state: () => Promise<SecretsState>;
  /** @param keys Undefined: removes those of this profile. @throws If nothing can be saved here. */
  readonly saveKeys: (profile: string, keys: AccessKeys | undefined) => Promise<SecretsState>;
  /** The environment given, plus the saved keys. */
  readonly environmentOver: (given: Environment) => Promise<Environment>;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The encrypted bytes in base64, by profile. */
type Sealed = Readonly<Record<string, string>>;

export function openSecrets(
  { safeStorage }: Pick<Electron, 'safeStorage'>,
  { path, platform }: { readonly path: string; readonly platform: NodeJS.Platform },
): Secrets {
  const isBasicText = () => platform === 'linux' && safeStorage.getSelectedStorageBackend() === 'basic_text';
  // Never `setUsePlainTextEncryption`: anybody who reads the file could decrypt it.
  const whyNone = async (): Promise<string | undefined> => {
    if (isBasicText()) return WARNING_BASIC_TEXT;
    return (await safeStorage.isAsyncEncryptionAvailable()) ? undefined : WARNING_UNAVAILABLE;
  };
  const seal = async (text: string): Promise<string> => {
    const why = await whyNone();
    if (why !== undefined) throw new Error(why);
    return (await safeStorage.encryptStringAsync(text)).toString('base64');
  };
  const state = async (): Promise<SecretsState> => {
    const warning = await whyNone();
    return {
      profiles: Object.keys(readSealed(path)).sort(),
      isAvailable: warning === undefined,
      ...(warning === undefined ? {} : { warning }),
    };
  };

  return {
    state,
    async saveKeys(profile, keys) {
      // Encrypts first, so that nothing can run between reading and writing the file.
      const text = keys && (await seal(JSON.stringify(keys)));
      const { [profile]: _old, ...others } = readToChange(path);
      if (text !== undefined && Object.keys(others).length >= PROFILES_MAX)
        throw new Error(
          `Keys of ${PROFILES_MAX} profiles are already saved. Remove one that you do not use.`,
        );
      writeSealed(path, text === undefined ? others : { ...others, [profile]: text });
      return state();
    },
    async environmentOver(given) {
      const sealed = readSealed(path);
      if (Object.keys(sealed).length === 0 || (await whyNone()) !== undefined) return given;
      const keys: Record<string, AccessKeys> = {};
      for (const [profile, text] of Object.entries(sealed)) {
        const found: unknown = JSON.parse((await unseal({ safeStorage }, text)) ?? 'null');
        if (isAccessKeys(found)) keys[profile] = found;
      }
      return Object.keys(keys).length === 0 ? given : withKeptKeys(given, keys);
    },
  };
}

/** The request from the window. @throws If it names no profile, or its keys are invalid. */
export function readKeys([profile, keys]: readonly unknown[]): {
  readonly profile: string;
  readonly keys: AccessKeys | undefined;
} {
  if (!isLine(profile) || profile === '' || profile === '__proto__')
    throw new Error('A profile name must be one line of text.');
  if (keys === undefined) return { profile, keys };
  if (!isAccessKeys(keys) || !Object.values(keys).every(isLine))
    throw new Error('A key must be one line of text.');
  const { accessKeyId, secretAccessKey, sessionToken } = keys;
  return {
    profile,
    keys: { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) },
  };
}

function isLine(value: unknown): value is string {
  return typeof value === 'string' && value.length <= VALUE_LENGTH_MAX && !/[\0\r\n]/.test(value);
}

/** Keys that cannot be decrypted (another user's key, an emptied keyring) count as none. */
async function unseal(
  { safeStorage }: Pick<Electron, 'safeStorage'>,
  text: string,
): Promise<string | undefined> {
  try {
    const { result } = await safeStorage.decryptStringAsync(Buffer.from(text, 'base64'));
    return result;
  } catch {
    return undefined;
  }
}

/** An unreadable file counts as empty for now, so that the app starts. */
function readSealed(path: string): Sealed {
  try {
    return parseSealed(readFileSync(path, 'utf8')) ?? {};
  } catch {
    return {};
  }
}

/** Sets an invalid file aside, and never overwrites an unreadable one. @throws If it cannot be read. */
function readToChange(path: string): Sealed {
  if (!existsSync(path)) return {};
  const sealed = parseSealed(readFileSync(path, 'utf8'));
  if (!sealed) renameSync(path, `${path}.damaged`);
  return sealed ?? {};
}

/**
 * Undefined if the file is invalid. Earlier versions kept one token for all machines; it is sent nowhere, and
 * the next write drops it.
 */
function parseSealed(text: string): Sealed | undefined {
  try {
    const { keys } = JSON.parse(text) as { readonly keys?: unknown };
    const entries = Object.entries(typeof keys === 'object' && keys !== null ? keys : {});
    const texts = entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
    return Object.fromEntries(texts);
  } catch {
    return undefined;
  }
}

function writeSealed(path: string, keys: Sealed): void {
  replaceFile(path, JSON.stringify({ keys }), 0o600);
}
