/** Errors of single items that more than one kind of copy meets. */
import { DrayError } from '../../api/error.ts';

export function vanished(path: string): DrayError {
  return new DrayError('notFound', `${path} went away at the source before it was copied.`, {
    data: { path },
  });
}
