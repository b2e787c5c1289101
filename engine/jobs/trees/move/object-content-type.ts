/** What an object says that it holds, by its name: as the `mime` package knows it. */

const UNKNOWN = 'application/octet-stream';

let types: { getType(path: string): string | null } | undefined;

/** Once, before the first `contentTypeOf`: the table is large, and only uploads need it. */
export async function loadContentTypes(): Promise<void> {
  types ??= (await import('mime')).default;
}

export function contentTypeOf(path: string): string {
  return types?.getType(path) ?? UNKNOWN;
}
