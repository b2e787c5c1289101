/**
 * Temporal's packages, loaded at first use. They are no dependency of Dray's: they take 176 MB, and only
 * fleets need them.
 */
import { DrayError } from '../../engine/api/error.ts';

const VERSION = '1.24.0';
const NAMES = ['client', 'worker', 'workflow', 'activity', 'common'].map(
  (name) => `@temporalio/${name}@${VERSION}`,
);

/** @throws `usage` with the command that installs the packages */
export async function withPackages<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    if (!isMissing(cause)) throw cause;
    const command = `npm install -g ${NAMES.join(' ')}`;
    throw new DrayError('usage', 'dray fleet needs the packages of Temporal, which are not installed.', {
      cause,
      data: { reason: 'temporalPackages' },
      advice: `Install them: ${command}`,
      command,
    });
  }
}

function isMissing(error: unknown): boolean {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  const isUnknown = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND';
  return isUnknown && String(message).includes('@temporalio/');
}
