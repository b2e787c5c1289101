/** The requests of Browse: local folders and remotes, in two panes. */
import { homedir } from 'node:os';
import type { AllChosen, EntryRow } from '../../api/host/browse.ts';
import type { FilePreview } from '../../api/host/file-preview.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import { nothingThere, parseNamedPlace } from '../../jobs/places/open-side.ts';
import { placeBelow } from '../../jobs/places/place-below.ts';
import { type LocalPlace, nameOfPlace, openPlace, type RemotePlace } from '../../jobs/places/places.ts';
import type { ObjectStore } from '../../remotes/object-store.ts';
import { type HandlersOf, type HostCall, jobContextOf } from '../port/host-call.ts';
import { previewFile } from '../preview/file-preview.ts';
import { linkPreview, previewLocalFile, readLocal } from '../preview/preview-sources.ts';
import { openPanesFile } from '../user-files/panes-file.ts';
import { openSource } from './entry-sources.ts';
import { openListing } from './listings.ts';
import { makeLocalFolder, makeRemoteFolder } from './make-folder.ts';
import { takenHere, takenOf, takenThere } from './taken-names.ts';

export const BROWSE: HandlersOf<'browse'> = {
  'browse.open': openListing,
  'browse.rows': ({ limit, list, offset, view }, { host, signal }) =>
    host.entryLists.find(list).entries.rows(view, { offset, limit }, signal),
  'browse.seek': async ({ list, sought, view }, { host, signal }) => {
    const index = await host.entryLists.find(list).entries.seek(view, sought, signal);
    return index === undefined ? {} : { index };
  },
  'browse.find': async ({ list, paths }, { host, signal }) => ({
    rows: await host.entryLists.find(list).entries.find(paths, signal),
  }),
  'browse.panes': async (_input, { host }) => openPanesFile(host.folder).read(),
  'browse.keepPane': async ({ pane, side }, { host }) => {
    openPanesFile(host.folder).keep(side, pane);
    return {};
  },
  'browse.close': async ({ list }, { host }) => {
    host.entryLists.drop(list);
    return {};
  },
  'browse.taken': async (input, call) => {
    const [place, context] = placeOf(input.place, call);
    if ('all' in input) return takenOf(chosenIn(call, input.all), openSource(context, place), call.signal);
    const { names } = input;
    const taken = place.kind === 'local' ? takenHere(place, names) : await takenThere(context, place, names);
    return { names: taken, total: taken.length };
  },
  'browse.repository': async ({ place: text }, call) => {
    const { readRepository } = await import('./read-repository.ts');
    const [place, context] = placeOf(text, call);
    return readRepository(context, place);
  },
  'browse.preview': async ({ place: text }, call) => {
    const [place, context] = placeOf(text, call);
    const preview =
      place.kind === 'local'
        ? await previewLocalFile(place.path, { signal: call.signal })
        : await previewObject(context, place);
    if (preview) return preview;
    throw nothingThere(text);
  },
  'browse.bytes': async ({ limit, place: text, start }, call) => {
    const [place, context] = placeOf(text, call);
    const range = { start, end: start + limit };
    const bytes =
      place.kind === 'local'
        ? await readLocal(place.path, { ...range, signal: call.signal })
        : await withStore(context, place, (store) => readRange(store, place, range, call.signal));
    return { base64: Buffer.from(bytes).toString('base64') };
  },
  'browse.size': async ({ place }, call) => {
    const { usage } = await import('../../jobs/one-place/disk-usage.ts');
    const context = jobContextOf(call, homedir());
    const { bytes, files } = await usage(
      { ...context, emit: (event) => event.type !== 'usage' && context.emit(event) },
      { place, depth: 0 },
    );
    return { files, bytes };
  },
  'browse.makeFolder': async ({ place: text }, call) => {
    const [place, context] = placeOf(text, call);
    if (place.kind === 'local') makeLocalFolder(place);
    else await makeRemoteFolder(context, place);
    return {};
  },
  'browse.plan': async (input, call) => {
    const { planCopy } = await import('./browse-plan.ts');
    return planCopy(input, (emit) => jobContextOf(call, homedir(), { emit }));
  },
  'browse.checkWrite': async ({ confirmed = [], place }, call) => {
    const { checkRepositories } = await import('../../jobs/places/repository-guard.ts');
    const check = { places: [place], isBelowToo: false, confirmed };
    await checkRepositories(jobContextOf(call, homedir()), check);
    return {};
  },
  'browse.remove': async (input, call) => {
    const { removeChosen, removePlaces } = await import('./remove-places.ts');
    const context = jobContextOf(call, homedir());
    const { checkRepositories } = await import('../../jobs/places/repository-guard.ts');
    const { confirmed = [] } = input;
    if ('places' in input) {
      const { places } = input;
      const check = () => checkRepositories(context, { places, isBelowToo: true, confirmed });
      return { removed: await removePlaces(context, places, check) };
    }
    const { place } = call.host.entryLists.find(input.all.list);
    await checkRepositories(context, { places: [place], isBelowToo: false, confirmed });
    for (const { kind, path } of chosenIn(call, input.all)) {
      if (kind !== 'folder') continue;
      const places = [placeBelow(place, path)];
      await checkRepositories(context, { places, isBelowToo: true, confirmed });
    }
    return { removed: await removeChosen(context, place, chosenIn(call, input.all)) };
  },
};

function chosenIn({ host }: HostCall, all: AllChosen): Generator<EntryRow> {
  return host.entryLists.find(all.list).entries.chosen(all);
}

function placeOf(text: string, call: HostCall): readonly [LocalPlace | RemotePlace, JobContext] {
  const context = jobContextOf(call, homedir());
  return [parseNamedPlace(context, { place: text }), context];
}

function previewObject(context: JobContext, place: RemotePlace): Promise<FilePreview | undefined> {
  const { signal } = context;
  return withStore(context, place, async (store) => {
    const name = nameOfPlace(place);
    const info = await store.head(name, { signal });
    if (!info) {
      const other = await store.files?.findSpecial?.(name, { signal });
      return other?.special?.kind === 'link' ? linkPreview(other.special.target) : undefined;
    }
    const { modifiedMs, sizeBytes } = info;
    return previewFile({
      name,
      facts: { sizeBytes, mtime: new Date(modifiedMs).toISOString() },
      read: (maxBytes) => readRange(store, place, { start: 0, end: Math.min(maxBytes, sizeBytes) }, signal),
      readRange: (start, end) => readRange(store, place, { start, end }, signal),
      signal,
      source: { place: place.text },
    });
  });
}

/** Opens the store of the folder that contains the place. */
async function withStore<T>(
  context: JobContext,
  place: RemotePlace,
  work: (store: ObjectStore) => Promise<T>,
): Promise<T> {
  await using remote = await openPlace(context, place, { at: 'parent' });
  const { store } = remote;
  return await work(store);
}

async function readRange(
  store: ObjectStore,
  place: RemotePlace,
  range: { readonly start: number; readonly end: number },
  signal: AbortSignal,
): Promise<Uint8Array> {
  if (range.end <= range.start) return new Uint8Array(0);
  const read = await store.read(nameOfPlace(place), { range, maxBytes: range.end - range.start, signal });
  if (!read) throw nothingThere(place.text);
  return read.bytes;
}
