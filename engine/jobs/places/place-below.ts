/** @param path With forward slashes; every character stands for itself. */
export function placeBelow(place: string, path: string): string {
  const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(place);
  // In a URL the parameters come last, and these three characters would have another meaning.
  const at = isUrl ? place.indexOf('?') : -1;
  const folder = at < 0 ? place : place.slice(0, at);
  const parameters = at < 0 ? '' : place.slice(at);
  const name = isUrl ? path.replace(/[%?#]/g, encodeURIComponent) : path;
  return `${folder}${/[/\\:]$/.test(folder) ? '' : '/'}${name}${parameters}`;
}
