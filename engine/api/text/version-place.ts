/** The text of a place in a version of a repository, as the command line and the window write it. */

/** On Windows a letter and a colon are a drive, so names of remotes have at least two characters. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]+$/;

/** Whether `NAME:` is read as this remote. */
export function canNamePlace(name: string): boolean {
  return NAME.test(name) && !/^(?:s3|file|dray)$/i.test(name);
}

/**
 * @param repository A URL, the name of a remote, or an absolute path of this machine.
 * @param path '' or a path without a slash at its start.
 */
export function formatVersionPlace(repository: string, ref: string, path: string): string {
  if (canNamePlace(repository)) return `${repository}@${ref}:${path}`;
  const parameters = new URLSearchParams({ ref, path });
  const url = urlOf(repository);
  return `${url}${url.includes('?') ? '&' : '?'}${parameters}`;
}

/** A place as a URL: a plain path becomes one, since only a URL has parameters. */
function urlOf(repository: string): string {
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(repository)) return repository;
  const path = repository.replaceAll('\\', '/');
  const encoded = path
    .split('/')
    .map(encodeURIComponent)
    .join('/')
    .replace(/^([A-Za-z])%3A/, '$1:');
  return encoded.startsWith('/') ? `file://${encoded}` : `file:///${encoded}`;
}
