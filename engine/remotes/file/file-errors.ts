/** Translates Node's file system errors into DrayErrors, in one place. */
import { constants } from 'node:os';
import { DrayError, type DrayErrorOptions, type ErrorCode, type RetryAdvice } from '../../api/error.ts';

/** The system's error code (`ENOENT`), or undefined if it is not a system error. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined;
  // Node has no names for some of the system's errors, as for ESTALE of a network disk.
  const number = UNNAMED.exec(error.code)?.[1];
  if (number === undefined) return error.code;
  return Object.entries(constants.errno).find(([, value]) => value === Number(number))?.[0] ?? error.code;
}

const UNNAMED = /^Unknown system error -(\d+)$/;

/** True for errors that mean "no such file": also below a file, and under a name too long to exist. */
export function isAbsent(error: unknown): boolean {
  const code = systemCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENAMETOOLONG' || code === 'ELOOP';
}

interface Meaning {
  readonly code: ErrorCode;
  readonly says: string;
  readonly retry?: RetryAdvice;
}

const DISK_FULL: Meaning = { code: 'diskFull', says: 'No space is left' };
const DENIED: Meaning = { code: 'accessDenied', says: 'Access was denied' };
const IN_THE_WAY: Meaning = {
  code: 'unsafePath',
  says: 'A file is where a folder is needed, or a folder where a file is needed',
};
const BUSY: Meaning = { code: 'io', says: 'The system is busy', retry: 'retry' };
const VANISHED: Meaning = { code: 'io', says: 'A folder disappeared meanwhile', retry: 'retry' };
const AWAY: Meaning = { code: 'unreachable', says: 'The file system does not answer', retry: 'retry' };

const MEANINGS: Readonly<Record<string, Meaning>> = {
  ENOSPC: DISK_FULL,
  EDQUOT: DISK_FULL,
  EACCES: DENIED,
  EPERM: DENIED,
  EROFS: { code: 'accessDenied', says: 'The disk is read-only' },
  ENOENT: VANISHED,
  ENOTDIR: IN_THE_WAY,
  ELOOP: { code: 'unsafePath', says: 'A symbolic link is where a file is needed' },
  EISDIR: IN_THE_WAY,
  EEXIST: IN_THE_WAY,
  ENOTEMPTY: IN_THE_WAY,
  ENAMETOOLONG: { code: 'unsafePath', says: 'The name is longer than the file system allows' },
  EXDEV: { code: 'io', says: 'A folder of the store lies on another file system than the store' },
  EMFILE: BUSY,
  ENFILE: BUSY,
  EBUSY: BUSY,
  EAGAIN: BUSY,
  ESTALE: AWAY,
  ETIMEDOUT: AWAY,
  EHOSTDOWN: AWAY,
  ENOTCONN: AWAY,
};

/** @param path The subject of the call, for the message. A DrayError passes unchanged. */
export function toFileError(error: unknown, path: string): unknown {
  const code = systemCode(error);
  if (code === undefined || error instanceof DrayError) return error;
  // A read that fails is never a full disk, whatever the system calls it.
  const isFullRead = MEANINGS[code] === DISK_FULL && (error as NodeJS.ErrnoException).syscall === 'read';
  const known = isFullRead ? undefined : MEANINGS[code];
  const meaning = known ?? { code: 'io', says: `The file system failed (${code})` };
  const options: DrayErrorOptions = { data: { path, systemCode: code }, cause: error };
  return new DrayError(
    meaning.code,
    `${meaning.says}: ${path}.`,
    meaning.retry ? { ...options, retry: meaning.retry } : options,
  );
}

/** Runs file system work and translates its errors. */
export async function translating<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toFileError(error, path);
  }
}
