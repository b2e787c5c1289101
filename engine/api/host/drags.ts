/** The requests about files that a person drags out of the window, to the desktop or another program. */
import type { Nothing } from './in-workspace.ts';

/** The most that is prepared for one drag. More is copied out to a folder instead. */
export const DRAG_FILES_MAX = 10_000;
export const DRAG_BYTES_MAX = 2 * 1024 ** 3;

export interface DragsRequests {
  /**
   * Begins to read a file from its start, for `drags.next`. A port reads one file at a time, and a new one
   * ends the one before.
   */
  'drags.open': { input: { readonly place: string }; answer: Nothing };
  /**
   * The next bytes, in base64; without them the file has ended. Fails as the reading does, also when the
   * content is damaged, so that no part of a file passes for all of it.
   */
  'drags.next': { input: Nothing; answer: { readonly base64?: string } };
  /**
   * Copies entries of a version into a private temporary folder (`paths` are below the place, those of
   * folders end in a slash, `.` is all of it), with `progress` events. Fails with `usage` and `reason:
   * 'tooMuchToDrag'` before the first byte if they are more than a drag can have.
   */
  'drags.prepare': {
    input: { readonly place: string; readonly paths: readonly string[] };
    answer: { readonly id: string; readonly files: number; readonly bytes: number };
  };
  /**
   * The absolute paths of what was prepared, for the desktop app's main process. From now on another
   * program may read them, so they stay for an hour or until the engine ends.
   */
  'drags.begin': { input: { readonly id: string }; answer: { readonly paths: readonly string[] } };
  /** Removes what was prepared, unless a drag has begun. */
  'drags.forget': { input: { readonly id: string }; answer: Nothing };
}
