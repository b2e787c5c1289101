/** The place of a workspace's versions, as its form has it, and the URL that it comes to. Pure. */

export type PlaceKind = 'folder' | 's3' | 'other';

export interface PlaceForm {
  readonly kind: PlaceKind;
  readonly folder: string;
  readonly bucket: string;
  readonly prefix: string;
  readonly endpoint: string;
  /** Of `other`: a URL as it is. */
  readonly url: string;
}

export const NO_PLACE: PlaceForm = {
  kind: 'folder',
  folder: '',
  bucket: '',
  prefix: '',
  endpoint: '',
  url: '',
};

/** Undefined while something is missing. */
export function urlOfPlace({ kind, folder, bucket, prefix, endpoint, url }: PlaceForm): string | undefined {
  switch (kind) {
    case 'folder':
      return folder.trim() === '' ? undefined : fileUrl(folder.trim());
    case 's3': {
      if (bucket.trim() === '') return undefined;
      const path = prefix.trim().replace(/^\/+|\/+$/g, '');
      const search = endpoint.trim() === '' ? '' : `?${new URLSearchParams({ endpoint: endpoint.trim() })}`;
      return `s3://${bucket.trim()}${path === '' ? '' : `/${path}`}${search}`;
    }
    case 'other':
      return url.trim() === '' ? undefined : url.trim();
  }
}

/** `/data/x` to `file:///data/x`, `C:\x` to `file:///C:/x`, `\\server\share` to `file://server/share`. */
export function fileUrl(folder: string): string {
  const parts = folder.replaceAll('\\', '/').split('/');
  const encoded = parts.map((part) => (/^[A-Za-z]:$/.test(part) ? part : encodeURIComponent(part))).join('/');
  if (encoded.startsWith('//')) return `file:${encoded}`;
  return encoded.startsWith('/') ? `file://${encoded}` : `file:///${encoded}`;
}

/** The last name of a path or URL, for a folder that is made for it. */
export function lastName(place: string): string {
  return (
    place
      .replace(/[?#].*$/, '')
      .replace(/[/\\]+$/, '')
      .split(/[/\\]/)
      .at(-1) ?? ''
  );
}
