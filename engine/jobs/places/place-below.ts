/** The place of a path below another place. @param path With forward slashes, not escaped. */
export function placeBelow(place: string, path: string): string {
  const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(place);
  // In a URL, parameters come last, and these three characters must be escaped.
  const at = isUrl ? place.indexOf('?') : -1;
  const folder = at < 0 ? place : place.slice(0, at);
  const parameters = at < 0 ? '' : place.slice(at);
  const name = isUrl ? path.replace(/[%?#]/g, encodeURIComponent) : path;
  return `${folder}${/[/\\:]$/.test(folder) ? '' : '/'}${name}${parameters}`;
}
