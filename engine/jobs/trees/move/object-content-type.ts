/** An object's content type by its name, from the `mime` package. */

const UNKNOWN = 'application/octet-stream';

let types: { getType(path: string): string | null } | undefined;

/** Call once before `contentTypeOf`. Loaded on demand: the table is large, and only uploads need it. */
export async function loadContentTypes(): Promise<void> {
  types ??= (await import('mime')).default;
}

export function contentTypeOf(path: string): string {
  return types?.getType(path) ?? UNKNOWN;
}
