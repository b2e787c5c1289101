/** An item as text for a `SpillList`. `mtimeNs` is dropped here; callers read it again. */
export function spilledText(value: unknown): string {
  return JSON.stringify(value, (_name, part) => (typeof part === 'bigint' ? undefined : part));
}
