/** Errors of single items that several kinds of copy share. */
import { DrayError } from '../../api/error.ts';

export function goneFromSource(path: string): DrayError {
  return new DrayError('notFound', `${path} disappeared from the source before it was copied.`, {
    data: { path },
  });
}
