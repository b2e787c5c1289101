/**
 * A collection over a listing of many made-up objects, in a process of its own so that its memory is known.
 * Arguments: the folder with refs, commits and segments, and the number of objects. Prints one line of JSON.
 */
import { systemClock } from '../../base/clock.ts';
import { openFileStore } from '../../remotes/file/file-store.ts';
import type { ListPage, ObjectStore, RemoteKey } from '../../remotes/object-store.ts';
import { OBJECTS_PREFIX } from '../../repository/keys.ts';
import { createAdaptiveLimit } from '../../transfer/limit/adaptive-limit.ts';
import { firstAfter, keyOfObject } from './huge-listing.fixture.ts';
import { runRounds } from './rounds.ts';

const PAGE_KEYS = 1_000;

const [folder, text] = process.argv.slice(2);
const objects = Number(text);
const counts = { listPages: 0, segmentReads: 0, requests: 0, deletedKeys: 0 };
const files = await openFileStore({ root: folder! });

function listObjects(after: RemoteKey): ListPage {
  counts.listPages += 1;
  const first = firstAfter(after.slice(OBJECTS_PREFIX.length).replace('/', ''), objects);
  const count = Math.min(PAGE_KEYS, objects - first);
  const page = Array.from({ length: count }, (_, at) => ({
    key: keyOfObject(first + at, objects),
    sizeBytes: 1_000,
    etag: '',
    modifiedMs: 0,
  }));
  const isLast = first + count === objects;
  return { objects: page, folders: [], ...(isLast ? {} : { continuation: page.at(-1)!.key }) };
}

const store: ObjectStore = {
  ...files,
  read: (key, options) => {
    counts.requests += 1;
    if (key.startsWith('manifests/')) counts.segmentReads += 1;
    return files.read(key, options);
  },
  put: (key, bytes, options) => {
    counts.requests += 1;
    return files.put(key, bytes, options);
  },
  head: (key, options) => {
    counts.requests += 1;
    return files.head(key, options);
  },
  list: async (request, options) => {
    counts.requests += 1;
    if (request.prefix !== OBJECTS_PREFIX) return files.list(request, options);
    return listObjects(request.continuation ?? request.startAfter ?? '');
  },
  delete: async (keys, options) => {
    counts.requests += 1;
    const own = keys.filter((key) => !key.startsWith(OBJECTS_PREFIX));
    counts.deletedKeys += keys.length - own.length;
    await files.delete(own, options);
  },
};
const maxMib = () => process.resourceUsage().maxRSS / 1_024;
const beforeMib = maxMib();
const outcome = await runRounds(
  {
    context: { signal: new AbortController().signal },
    clock: systemClock,
    limit: createAdaptiveLimit({ clock: systemClock }),
    store,
    progress: { phase: () => {}, add: () => {} },
  },
  { repository: '00000000-0000-4000-8000-000000000000', graceSeconds: 0, packTarget: 1_000, dryRun: false },
);
console.log(
  JSON.stringify({ ...counts, removed: outcome.removed.objects, beforeMib, addedMib: maxMib() - beforeMib }),
);
