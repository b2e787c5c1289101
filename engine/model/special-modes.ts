/** Set-uid, set-gid and sticky bits: a file that runs with its owner's rights must not come to be by copying, unless that is asked for. */

const PERMISSION_BITS = 0o777;
export const SPECIAL_BITS = 0o7000;

export interface SpecialModes {
  /** Special bits travel with the others. Default: they do not, in either direction. */
  readonly specialModes?: boolean;
}

/** What travels of a mode. */
export function travellingMode(mode: number, { specialModes = false }: SpecialModes): number {
  return mode & (specialModes ? PERMISSION_BITS | SPECIAL_BITS : PERMISSION_BITS);
}

/** The same where there may be none, to be spread into what is sent or written. */
export function travelling(mode: number | undefined, choice: SpecialModes): { readonly mode?: number } {
  return mode === undefined ? {} : { mode: travellingMode(mode, choice) };
}
