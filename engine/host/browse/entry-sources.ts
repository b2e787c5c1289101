/** Read one level of a place, up to a thousand entries at a time. */
import { type Dir, type Dirent, existsSync, lstatSync, readlinkSync } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { DrayError } from '../../api/error.ts';
import type { EntryRow } from '../../api/host/browse.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import { nothingThere } from '../../jobs/places/open-side.ts';
import { type LocalPlace, openPlace, type RemotePlace } from '../../jobs/places/places.ts';
import { DESCRIPTOR_KEY } from '../../repository/keys.ts';
import type { EntrySource } from './entry-source.ts';
import { openVersionSource } from './version-source.ts';

const ENTRIES_AT_ONCE = 1_000;

/** @param search Finds names below a version, instead of one level. */
export function openSource(
  context: JobContext,
  place: LocalPlace | RemotePlace,
  search?: string,
): EntrySource {
  if (place.kind === 'remote' && place.url.kind === 'version')
    return openVersionSource(context, place, place.url, search);
  if (search !== undefined)
    throw new DrayError('unsupported', 'Only a version of a repository is searched by name.');
  if (place.kind === 'local') return openLocalSource(place);
  return openRemoteSource(context, place);
}

/** In the order of the disk. */
function openLocalSource({ path, text }: LocalPlace): EntrySource {
  let folder: Dir | undefined;
  let isOver = false;
  return {
    async next() {
      if (isOver) return undefined;
      try {
        folder ??= await opendir(path, { bufferSize: ENTRIES_AT_ONCE });
        const found: Dirent[] = [];
        while (found.length < ENTRIES_AT_ONCE && !isOver) {
          const entry = await folder.read();
          if (entry) found.push(entry);
          else isOver = true;
        }
        const entries = found.map((entry) => entryOf(path, entry)).filter((entry) => entry !== undefined);
        // Entries that have disappeared are skipped, unless the whole folder has.
        if (entries.length < found.length && !existsSync(path)) throw nothingThere(text);
        return entries;
      } catch (cause) {
        if (cause instanceof DrayError) throw cause;
        const { code } = cause as NodeJS.ErrnoException;
        if (code === 'ENOENT' || code === 'ENOTDIR') throw nothingThere(text);
        throw new DrayError('io', `${text} cannot be read (${code}).`, { data: { path }, cause });
      }
    },
    async close() {
      isOver = true;
      await folder?.close().catch(() => {});
    },
  };
}

function entryOf(folder: string, entry: Dirent): EntryRow | undefined {
  const path = join(folder, entry.name);
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat) return undefined;
  const mtime = stat.mtime.toISOString();
  const common = { path: entry.name, sizeBytes: 0, mtime };
  if (stat.isDirectory()) {
    const isRepository = existsSync(join(path, DESCRIPTOR_KEY));
    return { ...common, path: `${entry.name}/`, kind: 'folder', ...(isRepository ? { isRepository } : {}) };
  }
  if (stat.isSymbolicLink()) return { ...common, kind: 'link', ...targetOf(path) };
  return { ...common, kind: 'file', sizeBytes: stat.isFile() ? stat.size : 0 };
}

/** Empty for a link that disappeared meanwhile. */
function targetOf(link: string): { readonly target?: string } {
  try {
    return { target: readlinkSync(link) };
  } catch {
    return {};
  }
}

/** One request for each thousand entries, in the order of the store. */
function openRemoteSource(context: JobContext, place: RemotePlace): EntrySource {
  let opening: ReturnType<typeof openPlace> | undefined;
  let after: string | undefined;
  let isOver = false;
  return {
    async next(signal) {
      if (isOver) return undefined;
      opening ??= openPlace(context, place, { at: 'place' });
      opening.catch(() => {
        opening = undefined;
      });
      const { store } = await opening;
      const page = await store.list(
        {
          prefix: '',
          delimiter: '/',
          limit: ENTRIES_AT_ONCE,
          ...(after === undefined ? {} : { continuation: after }),
        },
        { signal },
      );
      after = page.continuation;
      isOver = after === undefined;
      const folders = page.folders.map((path): EntryRow => ({ path, kind: 'folder', sizeBytes: 0 }));
      const files = page.objects
        // Skips markers of folders, which some tools create.
        .filter(({ key }) => key !== '' && !key.endsWith('/'))
        .map(({ key, modifiedMs, sizeBytes }): EntryRow => {
          const mtime = new Date(modifiedMs).toISOString();
          return { path: key, kind: 'file', sizeBytes, mtime };
        });
      return [...folders, ...files];
    },
    async close() {
      isOver = true;
      const opened = await opening?.catch(() => undefined);
      await opened?.store.close();
    },
  };
}
