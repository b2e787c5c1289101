/** Repeats a read whose check fails once: damage in transit does not repeat, damage in the store does. */
import { DrayError } from '../api/error.ts';

/**
 * @param read Undefined: there is no such object. Gets true the second time: no cache must answer.
 * @param check Throws `damaged` for wrong bytes.
 */
export async function readChecked<Found, Value>(
  read: (isAgain: boolean) => Promise<Found | undefined>,
  check: (found: Found) => Value | Promise<Value>,
): Promise<Value | undefined> {
  for (let isAgain = false; ; isAgain = true) {
    const found = await read(isAgain);
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
