/** Plain places: local folders and any remote, as the two panes of the window show them. */
import { homedir } from 'node:os';
import type { FilePreview } from '../../api/host/file-preview.ts';
import type { JobContext } from '../../api/jobs.ts';
import { nothingThere, parseNamedPlace } from '../../jobs/places/open-side.ts';
import { type LocalPlace, nameOfPlace, openPlace, type RemotePlace } from '../../jobs/places/places.ts';
import { type HandlersOf, type HostCall, jobContextOf } from '../port/host-call.ts';
import { listLocalFolder, listRemoteFolder } from './browse-list.ts';
import { previewFile } from './file-preview.ts';
import { makeLocalFolder, makeRemoteFolder } from './make-folder.ts';
import { previewLocalFile } from './preview-sources.ts';
import { takenHere, takenThere } from './taken-names.ts';

export const BROWSE: HandlersOf<'browse'> = {
  'browse.list': async ({ after, place: text }, call) => {
    const [place, context] = placeOf(text, call);
    return place.kind === 'local' ? listLocalFolder(place, after) : listRemoteFolder(context, place, after);
  },
  'browse.taken': async ({ names, place: text }, call) => {
    const [place, context] = placeOf(text, call);
    return {
      names: place.kind === 'local' ? takenHere(place, names) : await takenThere(context, place, names),
    };
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
  'browse.remove': async ({ places }, call) => {
    const { removePlaces } = await import('./remove-places.ts');
    return { removed: await removePlaces(jobContextOf(call, homedir()), places) };
  },
};

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
    return await previewFile({
      name: key,
      facts: { sizeBytes, mtime: new Date(modifiedMs).toISOString() },
      read: async (maxBytes) => {
        const end = Math.min(maxBytes, sizeBytes);
        if (end === 0) return new Uint8Array(0);
        const read = await store.read(key, { range: { start: 0, end }, maxBytes: end, signal });
        if (!read) throw nothingThere(place.text);
        return read.bytes;
      },
    });
  } finally {
    await store.close();
  }
}
