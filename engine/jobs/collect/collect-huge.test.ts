/** The memory and the requests of a collection, over made-up objects of which every fifth is garbage. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { runBudget } from '../../base/run-budget.fixture.ts';
import { openFileStore } from '../../remotes/file/file-store.ts';
import { encodeCommit, storeCommit } from '../../repository/commit.ts';
import { fileEntry } from '../../repository/entries.fixture.ts';
import { totalsOfManifest } from '../../repository/manifest/manifest.ts';
import { encodeSegment } from '../../repository/manifest/segment.ts';
import { writeSegment } from '../../repository/manifest/stored-segment.ts';
import { hashOfChunks } from '../../repository/packs/chunked-blob.ts';
import { moveRef } from '../../repository/refs.ts';
import { hashOfObject } from './huge-listing.fixture.ts';

const OBJECTS = runBudget({ short: 300_000, long: 10_000_000 });
const GARBAGE_EACH = 5;
/** Of a file, and so of a segment. */
const CHUNKS = 8_000;
/** Above what the process had before. The command takes some 70 MiB before: together less than 300 MB. */
const MEMORY_MIB = runBudget({ short: 140, long: 210 });
const REPOSITORY = '00000000-0000-4000-8000-000000000000';

const folder = await mkdtemp(join(tmpdir(), 'dray-huge-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Large files whose chunks are the objects that stay. */
async function storeDataset(): Promise<number> {
  const store = await openFileStore({ root: folder });
  const segments = [];
  for (let at = 0; at < OBJECTS; ) {
    const chunks = [];
    for (; at < OBJECTS && chunks.length < CHUNKS; at += 1)
      if (at % GARBAGE_EACH !== 0) chunks.push({ hash: hashOfObject(at, OBJECTS), sizeBytes: 1_000 });
    const segment = encodeSegment([
      fileEntry(`file ${String(at).padStart(9, '0')}`, '', {
        sizeBytes: chunks.length * 1_000,
        blob: hashOfChunks(chunks),
        location: { in: 'chunks', chunks },
      }),
    ]);
    await writeSegment(store, segment);
    segments.push(segment.ref);
  }
  const manifest = { kind: 'segments', segments } as const;
  const record = { author: 'ada', message: 'many', time: '2026-01-31T12:00:00.000Z' };
  const totals = totalsOfManifest(manifest);
  const commit = encodeCommit({ repository: REPOSITORY, parents: [], ...record, totals, manifest });
  await storeCommit(store, commit);
  const value = { commit: commit.hash, epoch: 0, repository: REPOSITORY, collects: true } as const;
  await moveRef(store, 'heads/main', value, { absent: true });
  await store.close();
  return segments.length;
}

it(`of ${OBJECTS.toLocaleString('en')} objects adds at most ${MEMORY_MIB} MiB, and takes few requests`, async () => {
  const segments = await storeDataset();
  const script = fileURLToPath(new URL('collect-huge.fixture.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script, folder, `${OBJECTS}`], {
    // The C library keeps free memory for each of Node's threads that read files; a bucket needs none.
    env: { ...process.env, MALLOC_ARENA_MAX: '1' },
  });
  const found = JSON.parse(stdout);
  const garbage = OBJECTS / GARBAGE_EACH;
  expect(found).toMatchObject({ removed: garbage, deletedKeys: garbage, segmentReads: segments });
  const pages = OBJECTS / 1_000;
  expect(found.listPages).toBeGreaterThanOrEqual(pages);
  expect(found.listPages).toBeLessThanOrEqual(pages * 1.2);
  // Lists are written and read once; refs and the state are read a few times.
  const lists = Math.ceil(garbage / 100_000);
  const rest = found.requests - found.listPages - segments - garbage / 1_000 - 2 * lists;
  expect(rest).toBeLessThanOrEqual(40);
  expect(found.addedMib).toBeLessThanOrEqual(MEMORY_MIB);
  console.info(`collection of ${OBJECTS.toLocaleString('en')} objects: ${stdout.trim()}`);
});
