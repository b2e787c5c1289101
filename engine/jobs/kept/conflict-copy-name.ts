/** The second name of a local file that the remote's version replaces: `name (mine, 2026-11-23).ext`. */

/** The longest name that every file system accepts. */
const NAME_BYTES_MAX = 255;
/** A longer suffix is not an extension. */
const EXTENSION_CHARACTERS_MAX = 32;

/** @param day Such as `2026-11-23`. @param turn From 1; grows while names are taken. */
export function conflictCopyName(name: string, day: string, turn: number): string {
  const dot = name.lastIndexOf('.');
  const at = dot > 0 && name.length - dot <= EXTENSION_CHARACTERS_MAX ? dot : name.length;
  const end = ` (mine, ${day}${turn > 1 ? ` ${turn}` : ''})${name.slice(at)}`;
  return cutToBytes(name.slice(0, at), NAME_BYTES_MAX - Buffer.byteLength(end)) + end;
}

/** Cuts between characters. */
function cutToBytes(text: string, bytesMax: number): string {
  let cut = '';
  let bytes = 0;
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > bytesMax) return cut;
    cut += character;
  }
  return cut;
}
