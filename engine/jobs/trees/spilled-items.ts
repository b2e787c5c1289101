/** Items as texts of a `SpillList`: without `mtimeNs`, which who needs it finds out again. */
export function textOf(value: unknown): string {
  return JSON.stringify(value, (_name, part) => (typeof part === 'bigint' ? undefined : part));
}
