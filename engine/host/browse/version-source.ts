/** Reads one level of a commit, or all below it whose names have a text in them. */
import type { EntryRow } from '../../api/host/browse.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import { openPlaceVersion, type RemotePlace, type VersionUrl } from '../../jobs/places/places.ts';
import type { VersionListing, VersionPage } from '../../jobs/versions/version.ts';
import type { Entry } from '../../model/entry.ts';
import { formatMoment } from '../format-moment.ts';
import type { EntrySource } from './entry-source.ts';

const ENTRIES_AT_ONCE = 1_000;
/** Most entries of a search are no match. A step of this many takes some milliseconds. */
const SEARCHED_AT_ONCE = 5_000;

/** @param search A part of a name, ignoring case. Paths of what is found are those below the place. */
export function openVersionSource(
  context: JobContext,
  place: RemotePlace,
  url: VersionUrl,
  search?: string,
): EntrySource {
  const prefix = url.prefix === '' ? '' : `${url.prefix}/`;
  const rowsOf = search === undefined ? levelRows(prefix) : foundRows(prefix, search);
  const how: VersionListing =
    search === undefined ? { delimiter: '/', limit: ENTRIES_AT_ONCE } : { limit: SEARCHED_AT_ONCE };
  let opening: ReturnType<typeof openPlaceVersion> | undefined;
  let after: string | undefined;
  let isOver = false;
  return {
    async next(signal) {
      if (isOver) return undefined;
      opening ??= openPlaceVersion(context, place, url);
      opening.catch(() => {
        opening = undefined;
      });
      const { version } = await opening;
      const from = after === undefined ? {} : { continuesAfter: after };
      const page = await version.list({ ...how, prefix, ...from }, { signal });
      after = page.next;
      isOver = after === undefined;
      return rowsOf(page);
    },
    async close() {
      isOver = true;
      const opened = await opening?.catch(() => undefined);
      await opened?.store.close();
    },
  };
}

type RowsOf = (page: VersionPage) => readonly EntryRow[];

function levelRows(prefix: string): RowsOf {
  return ({ entries, folders }) => [
    ...folders.map((path) => folderRow(path.slice(prefix.length))),
    // The place itself may be an empty folder.
    ...entries.filter(({ path }) => path !== prefix).map((entry) => rowOf(entry, prefix)),
  ];
}

function foundRows(prefix: string, search: string): RowsOf {
  const sought = search.toLowerCase();
  const isMatch = (name: string) => name.toLowerCase().includes(sought);
  /** The folders around the entry before, which are behind each other in the order of paths. */
  let around: readonly string[] = [];
  return ({ entries }) => {
    const rows: EntryRow[] = [];
    for (const entry of entries) {
      if (entry.path === prefix) continue;
      const path = entry.path.slice(prefix.length);
      const parts = path.split('/');
      const name = parts.pop()!;
      let isKnown = true;
      for (const [at, part] of parts.entries()) {
        isKnown &&= around[at] === part;
        if (!isKnown && isMatch(part)) rows.push(folderRow(`${parts.slice(0, at + 1).join('/')}/`));
      }
      around = parts;
      if (name !== '' && isMatch(name)) rows.push(rowOf(entry, prefix));
    }
    return rows;
  };
}

function folderRow(path: string): EntryRow {
  return { path, kind: 'folder', sizeBytes: 0 };
}

function rowOf(entry: Entry, prefix: string): EntryRow {
  const path = entry.path.slice(prefix.length);
  switch (entry.kind) {
    case 'folder':
      return folderRow(path);
    case 'link':
      return { path, kind: 'link', sizeBytes: 0, target: entry.target };
    case 'file':
      return { path, kind: 'file', sizeBytes: entry.sizeBytes, mtime: formatMoment(entry.mtimeNs) };
  }
}
