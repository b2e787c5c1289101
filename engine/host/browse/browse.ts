/** Plain places: local folders and any remote, as the two panes of the window show them. */
import { homedir } from 'node:os';
import type { AllChosen, EntryRow } from '../../api/host/browse.ts';
import type { FilePreview } from '../../api/host/file-preview.ts';
import type { JobContext } from '../../api/jobs.ts';
import { nothingThere, parseNamedPlace } from '../../jobs/places/open-side.ts';
import { placeBelow } from '../../jobs/places/place-below.ts';
import { type LocalPlace, nameOfPlace, openPlace, type RemotePlace } from '../../jobs/places/places.ts';
import { type HandlersOf, type HostCall, jobContextOf } from '../port/host-call.ts';
import { previewFile } from '../preview/file-preview.ts';
import { previewLocalFile, readLocal } from '../preview/preview-sources.ts';
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
        ? await previewLocalFile(place.path, { signal: call.signal, isPlayable: true })
        : await previewObject(context, place);
    if (preview) return preview;
    throw nothingThere(text);
  },
  'browse.bytes': async ({ limit, place: text, start }, call) => {
    const [place, context] = placeOf(text, call);
    const { signal } = call;
    const bytes =
      place.kind === 'local'
        ? await readLocal(place.path, { start, end: start + limit, signal })
        : await readObject(context, place, { start, end: start + limit });
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
    const { checkRepositories } = await import('./repository-guard.ts');
    const check = { places: [place], isBelowToo: false, confirmed };
    await checkRepositories(jobContextOf(call, homedir()), check);
    return {};
  },
  'browse.remove': async (input, call) => {
    const { removeChosen, removePlaces } = await import('./remove-places.ts');
    const context = jobContextOf(call, homedir());
    const { checkRepositories } = await import('./repository-guard.ts');
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

async function previewObject(context: JobContext, place: RemotePlace): Promise<FilePreview | undefined> {
  const { signal } = context;
  const { store } = await openPlace(context, place, { at: 'parent' });
  try {
    const key = nameOfPlace(place);
    const info = await store.head(key, { signal });
    if (!info) return undefined;
    const { modifiedMs, sizeBytes } = info;
    const readRange = async (start: number, end: number) => {
      if (end <= start) return new Uint8Array(0);
      const read = await store.read(key, { range: { start, end }, maxBytes: end - start, signal });
      if (!read) throw nothingThere(place.text);
      return read.bytes;
    };
    return await previewFile({
      name: key,
      facts: { sizeBytes, mtime: new Date(modifiedMs).toISOString() },
      read: (maxBytes) => readRange(0, Math.min(maxBytes, sizeBytes)),
      readRange,
      signal,
      isPlayable: true,
    });
  } finally {
    await store.close();
  }
}

async function readObject(
  context: JobContext,
  place: RemotePlace,
  range: { readonly start: number; readonly end: number },
): Promise<Uint8Array> {
  const { store } = await openPlace(context, place, { at: 'parent' });
  try {
    const { signal } = context;
    const read = await store.read(nameOfPlace(place), { range, maxBytes: range.end - range.start, signal });
    if (!read) throw nothingThere(place.text);
    return read.bytes;
  } finally {
    await store.close();
  }
}
