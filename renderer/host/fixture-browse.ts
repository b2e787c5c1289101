/** Folders of the fixture host: this computer and the remotes hold the same small trees, kept while the window is open. */
import type { AnswerOf, ChangeRow, EntryRow, FilePreview, InputOf } from '../../engine/api/host.ts';
import type { FixtureHandlers } from './fixture-handlers.ts';
import { FIXTURE_IMAGE } from './fixture-image.ts';

const MIB = 1024 ** 2;
const PAGE = 1_000;
const HOME = '/home/ada/';

/** Folder (with a slash at its end) to what it holds. */
const FOLDERS = new Map<string, readonly EntryRow[]>([
  ['/', [folder('home/')]],
  ['/home/', [folder('ada/')]],
  [
    HOME,
    [
      folder('genomes/'),
      folder('imagery/'),
      folder('models/'),
      file('coast.png', 1_268),
      file('notes.md', 1_830),
      file('samples.csv', 91_400),
      { path: 'latest', kind: 'link', sizeBytes: 0, target: 'genomes/reads' },
    ],
  ],
  [`${HOME}genomes/`, [folder('annotations/'), folder('reads/'), file('README.md', 2_140)]],
  [
    `${HOME}genomes/reads/`,
    Array.from({ length: 11 }, (_, index) => file(`run-${index + 1}.fastq`, (690 + 7 * index) * MIB)),
  ],
  [
    `${HOME}imagery/`,
    Array.from({ length: 2_400 }, (_, index) => file(`tile-${String(index).padStart(4, '0')}.tif`, 4 * MIB)),
  ],
  [`${HOME}models/`, []],
  ['archive:', [folder('imagery/'), folder('photos/'), file('inventory.json', 48_200)]],
  [
    'archive:photos/',
    [
      file('2026-06-02 harbour.jpg', 5 * MIB),
      file('2026-06-03 ferry.jpg', 4 * MIB),
      file('coast.png', 1_268),
    ],
  ],
  ['archive:imagery/', [folder('2024/'), folder('2025/')]],
]);

function listPlace({ place, after }: InputOf<'browse.list'>): AnswerOf<'browse.list'> {
  const all = FOLDERS.get(place) ?? FOLDERS.get(`${place}/`) ?? [];
  const start = after === undefined ? 0 : all.findIndex((entry) => entry.path > after);
  const entries = start === -1 ? [] : all.slice(start, start + PAGE);
  const last = entries.at(-1)?.path;
  const isMore = start !== -1 && start + PAGE < all.length;
  return { entries, ...(isMore && last !== undefined ? { next: last } : {}) };
}

function takenNames({ names, place }: InputOf<'browse.taken'>): AnswerOf<'browse.taken'> {
  const there = new Set(listPlace({ place }).entries.map(({ path }) => path.replace(/\/$/, '')));
  return { names: names.filter((name) => there.has(name)) };
}

function previewPlace({ place }: InputOf<'browse.preview'>): FilePreview {
  const facts = { sizeBytes: 1_830, mtime: '2026-11-18T09:12:00Z' };
  if (/\.png$/.test(place)) return { as: 'image', mime: 'image/png', base64: FIXTURE_IMAGE, facts };
  if (/\.(md|csv|json)$/.test(place)) {
    const text = '# Notes\n\n- Runs 8 to 11 use the new kit.\n- Ask Mira about the reference.\n';
    return { as: 'text', text, isCut: false, facts };
  }
  return { as: 'facts', facts };
}

function sizeOfPlace({ place }: InputOf<'browse.size'>): AnswerOf<'browse.size'> {
  return { files: 40 + (place.length % 7) * 311, bytes: (120 + (place.length % 11) * 903) * MIB };
}

function makeFolder({ place }: InputOf<'browse.makeFolder'>): AnswerOf<'browse.makeFolder'> {
  const [parent, name] = splitPlace(place);
  const entries = (FOLDERS.get(parent) ?? []).filter((entry) => entry.path !== name);
  FOLDERS.set(parent, [folder(name), ...entries]);
  return {};
}

function removePlaces({ places }: InputOf<'browse.remove'>): AnswerOf<'browse.remove'> {
  for (const place of places) {
    const [parent, name] = splitPlace(place);
    FOLDERS.set(
      parent,
      (FOLDERS.get(parent) ?? []).filter((entry) => entry.path !== name),
    );
  }
  return { removed: places.length };
}

function planCopy({ kind, source, destination }: InputOf<'browse.plan'>): AnswerOf<'browse.plan'> {
  const none = { reads: 0, writes: 0, deletes: 0, sentBytes: 0, receivedBytes: 0 };
  const rows: ChangeRow[] = [
    change('added', 'run-10.fastq', 753 * MIB),
    change('added', 'run-11.fastq', 760 * MIB),
    { ...change('modified', 'samples.csv', 91_400), oldSizeBytes: 70_100 },
    ...(kind === 'sync' ? [change('deleted', 'run-0.fastq', 690 * MIB)] : []),
  ];
  return {
    summary: {
      result: 'wouldCopy',
      source,
      destination,
      files: 214,
      bytes: 9_204 * MIB,
      copiedFiles: 3,
      copiedBytes: 1_513 * MIB,
      copiedInStore: 0,
      touchedFiles: 0,
      touchedFolders: 0,
      deletedFiles: kind === 'sync' ? 1 : 0,
      unchangedFiles: 211,
      skippedFiles: 0,
      failed: 0,
      sentBytes: 0,
      receivedBytes: 0,
      requests: { ...none, lists: 2, total: 2, dollars: 0.00001 },
      forecast: { ...none, writes: 97, lists: 2, total: 99, sentBytes: 1_513 * MIB, dollars: 0.00049 },
    },
    rows,
    isCut: false,
    failures: [],
    skipped: [],
  };
}

function splitPlace(place: string): [parent: string, name: string] {
  const at = Math.max(place.replace(/\/$/, '').lastIndexOf('/'), place.lastIndexOf(':'));
  return [place.slice(0, at + 1), place.slice(at + 1)];
}

function folder(path: string): EntryRow {
  return { path, kind: 'folder', sizeBytes: 0 };
}

function file(path: string, sizeBytes: number): EntryRow {
  return { path, kind: 'file', sizeBytes, mtime: '2026-11-18T09:12:00Z' };
}

function change(kind: ChangeRow['change'], path: string, sizeBytes: number): ChangeRow {
  return { change: kind, path, kind: 'file', sizeBytes };
}

export const browseFixture: FixtureHandlers = {
  'browse.list': listPlace,
  'browse.taken': takenNames,
  'browse.preview': previewPlace,
  'browse.size': sizeOfPlace,
  'browse.makeFolder': makeFolder,
  'browse.plan': planCopy,
  'browse.remove': removePlaces,
};
