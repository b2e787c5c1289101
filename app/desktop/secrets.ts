/**
 * Credentials for the engine, which a program that is started from a dock does not get from a shell. Encrypted by the system's own store
 * of keys; written to a file that its owner alone reads; decrypted for the engine's environment and for nobody else.
 */
import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { SECRET_NAMES, type SecretName, type SecretsState } from '../../engine/api/desktop-bridge.ts';
import type { Electron } from './electron-parts.ts';

const VALUE_LENGTH_MAX = 8_192;

const WARNING_BASIC_TEXT =
  'This desktop offers no keyring, so what you save here is encrypted with a key that everybody knows: whoever can read your files can read it. Install GNOME Keyring or KWallet, or keep credentials in ~/.aws and DRAY_TOKEN_FILE.';
const WARNING_UNAVAILABLE =
  'This system offers Dray no way to encrypt what it saves, so nothing can be saved here. Keep credentials in ~/.aws and DRAY_TOKEN_FILE.';

export interface Secrets {
  readonly state: () => Promise<SecretsState>;
  /** @param value Empty: removes it. @throws When nothing can be saved here. */
  readonly save: (name: SecretName, value: string) => Promise<SecretsState>;
  /** What is given first, and what was saved where it says nothing. */
  readonly environmentOver: (given: Environment) => Promise<Environment>;
}

type Environment = Readonly<Record<string, string | undefined>>;
type Sealed = Readonly<Partial<Record<SecretName, string>>>;

export function openSecrets(
  { safeStorage }: Pick<Electron, 'safeStorage'>,
  { path, platform }: { readonly path: string; readonly platform: NodeJS.Platform },
): Secrets {
  const isBasicText = () => platform === 'linux' && safeStorage.getSelectedStorageBackend() === 'basic_text';
  const isAvailable = () => {
    // Without it Electron refuses to work with the key that everybody knows; the warning says what that means.
    if (isBasicText()) safeStorage.setUsePlainTextEncryption(true);
    return safeStorage.isAsyncEncryptionAvailable();
  };

  const state = async (): Promise<SecretsState> => {
    const available = await isAvailable();
    const warning = !available ? WARNING_UNAVAILABLE : isBasicText() ? WARNING_BASIC_TEXT : undefined;
    const sealed = readSealed(path);
    return {
      saved: SECRET_NAMES.filter((name) => sealed[name] !== undefined),
      isAvailable: available,
      ...(warning === undefined ? {} : { warning }),
    };
  };

  return {
    state,
    async save(name, value) {
      const { [name]: _old, ...others } = readSealed(path);
      if (value === '') {
        writeSealed(path, others);
        return state();
      }
      if (!(await isAvailable())) throw new Error(WARNING_UNAVAILABLE);
      const sealed = await safeStorage.encryptStringAsync(value);
      writeSealed(path, { ...others, [name]: sealed.toString('base64') });
      return state();
    },
    async environmentOver(given) {
      const sealed = readSealed(path);
      if (Object.keys(sealed).length === 0 || !(await isAvailable())) return given;
      // Keys of AWS belong together: one of the environment with another of the file would be no pair.
      const hasAwsKeys = given.AWS_ACCESS_KEY_ID !== undefined || given.AWS_SECRET_ACCESS_KEY !== undefined;
      const filled: Record<string, string | undefined> = { ...given };
      for (const name of SECRET_NAMES) {
        const text = sealed[name];
        if (text === undefined || given[name] !== undefined || (hasAwsKeys && name.startsWith('AWS_')))
          continue;
        const value = await unseal({ safeStorage }, text);
        if (value !== undefined) filled[name] = value;
      }
      return filled;
    },
  };
}

/** What came from the window. @throws When it names no secret of ours, or its value cannot be one. */
export function readSecret(given: readonly unknown[]): { readonly name: SecretName; readonly value: string } {
  const [name, value] = given;
  const known = SECRET_NAMES.find((candidate) => candidate === name);
  if (known === undefined) throw new Error('There is no such secret.');
  if (typeof value !== 'string' || value.length > VALUE_LENGTH_MAX || /[\0\r\n]/.test(value))
    throw new Error('A secret is one line of text.');
  return { name: known, value };
}

/** One that cannot be decrypted (another user's key, a keyring that was emptied) is as good as none. */
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

function readSealed(path: string): Sealed {
  try {
    const read: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof read !== 'object' || read === null) return {};
    const fields = Object.entries(read).filter(
      ([name, text]) => SECRET_NAMES.some((known) => known === name) && typeof text === 'string',
    );
    return Object.fromEntries(fields);
  } catch {
    return {};
  }
}

function writeSealed(path: string, sealed: Sealed): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(`${path}.tmp`, JSON.stringify(sealed), { mode: 0o600 });
  // A file that was left over keeps the mode it had.
  chmodSync(`${path}.tmp`, 0o600);
  renameSync(`${path}.tmp`, path);
}
