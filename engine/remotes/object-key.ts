/** Keys for stores other than S3: each names one file below a folder, on every system. */
import { DrayError } from '../api/error.ts';

/** S3's own limit, in bytes of UTF-8. */
const KEY_BYTES_MAX = 1024;

/** A key that could leave its folder, or that names no file, fails with `unsafePath`. */
export function checkKey(key: string): void {
  const fault = faultOf(key);
  if (fault === undefined) return;
  throw new DrayError('unsafePath', `The key ${JSON.stringify(key)} cannot be stored: ${fault}.`, {
    data: { key },
  });
}

function faultOf(key: string): string | undefined {
  if (key === '') return 'it is empty';
  if (key.includes('\0')) return 'it contains a NUL character';
  if (!key.isWellFormed()) return 'it is not well-formed Unicode';
  if (Buffer.byteLength(key) > KEY_BYTES_MAX) return `it is longer than ${KEY_BYTES_MAX} bytes`;
  for (const part of key.split('/')) {
    if (part === '') return 'a part between its slashes is empty';
    if (part === '.' || part === '..') return `it contains the part "${part}"`;
  }
  return undefined;
}
