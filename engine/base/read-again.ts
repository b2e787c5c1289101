/** Bytes that were damaged on their way are not damaged twice: a read whose check fails is made once more before the store is accused. */
import { DrayError } from '../api/error.ts';

/**
 * @param read Undefined: there is no such object.
 * @param check Fails with `damaged` for bytes that are not the right ones.
 */
export async function readChecked<Found, Value>(
  read: () => Promise<Found | undefined>,
  check: (found: Found) => Value | Promise<Value>,
): Promise<Value | undefined> {
  for (let isAgain = false; ; isAgain = true) {
    const found = await read();
    if (found === undefined) return undefined;
    try {
      return await check(found);
    } catch (error) {
      if (isAgain || !isDamage(error)) throw error;
    }
  }
}

export function isDamage(error: unknown): error is DrayError {
  return error instanceof DrayError && error.code === 'damaged';
}
