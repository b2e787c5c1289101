/**
 * Set-uid, set-gid and sticky bits. A copy must not create a file that runs with its owner's rights unless
 * the user asks for it.
 */

const PERMISSION_BITS = 0o777;
export const SPECIAL_BITS = 0o7000;
export const MODE_BITS = PERMISSION_BITS | SPECIAL_BITS;

/** The bits of `stat`'s mode that `chmod` sets, without the kind of the entry. */
export function modeBits(mode: number | bigint): number {
  return Number(mode) & MODE_BITS;
}

export interface SpecialModes {
  /** Copy special bits with the others. Default: not copied, in either direction. */
  readonly specialModes?: boolean;
}

/** The bits of a mode that a copy transfers. */
export function travellingMode(mode: number, { specialModes = false }: SpecialModes): number {
  return mode & (specialModes ? MODE_BITS : PERMISSION_BITS);
}

/** The same for an optional mode, as an object to spread. */
export function travelling(mode: number | undefined, choice: SpecialModes): { readonly mode?: number } {
  return mode === undefined ? {} : { mode: travellingMode(mode, choice) };
}

interface HasMode {
  readonly mode?: number | undefined;
}

/** The mode to set at the destination. Undefined: it already has it, or one side has no modes. */
export function modeToSet(source: HasMode, destination: HasMode, choice: SpecialModes): number | undefined {
  if (source.mode === undefined || destination.mode === undefined) return undefined;
  const wanted = travellingMode(source.mode, choice);
  return wanted === travellingMode(destination.mode, choice) ? undefined : wanted;
}
