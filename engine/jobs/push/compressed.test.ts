/** A repository with compression: each place of a blob, each reader, damage, and several writers. */
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { constants, zstdCompressSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobEvent } from '../../api/events.ts';
import { systemClock } from '../../base/clock.ts';
import { runBudget } from '../../base/run-budget.fixture.ts';
import { compressBlob } from '../../compression/zstd-blob.ts';
import type { BlobHash, FileEntry } from '../../model/entry.ts';
import { type Compression, DEFAULT_LAYOUT } from '../../model/layout.ts';
import { noise } from '../../peer/peer.fixture.ts';
import { createMemoryStore } from '../../remotes/memory/memory-store.fixture.ts';
import { objectKey } from '../../repository/keys.ts';
import { readEntries } from '../../repository/manifest/read-entries.ts';
import { createAdaptiveLimit } from '../../transfer/limit/adaptive-limit.ts';
import { readCommitted } from '../history/read-committed.ts';
import { verify } from '../history/verify.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { initWorkspace } from '../remotes/init.ts';
import { repair } from '../repair/repair.ts';
import { fetchCommit } from '../session/base/base-commit.ts';
import { keysBelow, spoilObject, truncateObject } from '../session/damage.fixture.ts';
import {
  createSandbox,
  eventsOf,
  testContext as plainContext,
  type Sandbox,
} from '../session/job.fixture.ts';
import { openSession } from '../session/open-workspace.ts';
import { openSessionRemote } from '../session/opened-remote.ts';
import { describeTree } from '../trees/same-trees.fixture.ts';
import { restore } from '../working-copy/restore.ts';
import { push } from './push.ts';
import { putBlob } from './stored-blobs.ts';

const MIB = 1024 * 1024;
const LAYOUT = { packBelow: 100_000, chunkAbove: 8 * MIB };
const table = (rows: number) =>
  Buffer.from(Array.from({ length: rows }, (_, at) => `${at},${(at * 7919) % 1_000},station,ok\n`).join(''));
/** By where a file of this size is stored. Each place has content that does not compress, too. */
const FILES: Readonly<Record<string, Buffer>> = {
  pack: table(1_000),
  'pack-plain': noise(20_000, 1),
  object: table(50_000),
  'object-plain': noise(300_000, 1),
  chunks: Buffer.concat([table(200_000), noise(9 * MIB, 1), table(100_000)]),
  tiny: Buffer.from('a,b\n'),
  empty: Buffer.alloc(0),
};

const PASSWORD = 'a password';
/** Only an encrypted repository asks for the password. Its recovery key then opens it, at no cost. */
const environment = { DRAY_AUTHOR: 'tester', DRAY_PASSWORD: PASSWORD };
const testContext = (folder: string) => plainContext(folder, { environment });

let sandbox: Sandbox;
let remote: string;
let root: string;
beforeEach(() => {
  environment.DRAY_PASSWORD = PASSWORD;
  sandbox = createSandbox();
  remote = sandbox.path('remote');
  root = sandbox.path('work');
});
afterEach(() => sandbox[Symbol.dispose]());

async function pushed(compression: Compression | 'off' = 'auto', encrypt = false) {
  for (const [name, content] of Object.entries(FILES)) sandbox.write(`work/${name}`, content);
  const request = { remoteUrl: remote, layout: LAYOUT, compression, encrypt };
  const { recoveryKey } = await initWorkspace(testContext(root), request);
  if (recoveryKey !== undefined) environment.DRAY_PASSWORD = recoveryKey;
  return push(testContext(root), {});
}

/** The entries of the branch's commit, by path. */
async function entriesIn(folder = root): Promise<Map<string, FileEntry>> {
  using session = await openSession(testContext(folder), 'test', 'shared');
  await using opened = await openSessionRemote(session);
  const hash = Object.values(session.state.bases)[0]!;
  const commit = await fetchCommit(session, opened.store, hash as never);
  const files = new Map<string, FileEntry>();
  for await (const page of readEntries(opened.store, commit, {}))
    for (const entry of page) if (entry.kind === 'file') files.set(entry.path, entry);
  return files;
}

async function clone(name = 'copy'): Promise<string> {
  const directory = sandbox.path(name);
  await cloneWorkspace(testContext(sandbox.folder), { url: remote, directory });
  return directory;
}

const sizeOf = (key: string) => statSync(join(remote, key)).size;
const damageIn = (events: readonly JobEvent[]) =>
  events.flatMap((event) => (event.type === 'fileFailed' ? [[event.path, event.error.code]] : []));

describe('a push to a repository that compresses', () => {
  it.each(runBudget<readonly Compression[]>({ short: ['auto'], long: ['auto', 'max'] }))(
    'says what it stored, in each place: %s',
    async (compression) => {
      const { requests } = await pushed(compression);
      const entries = await entriesIn();
      const plainBytes = Object.values(FILES).reduce((sum, { length }) => sum + length, 0);
      expect(requests.sentBytes).toBeLessThan(plainBytes - 5 * MIB);
      const { location: packed } = entries.get('pack')!;
      const { location: object } = entries.get('object')!;
      const { location: cut } = entries.get('chunks')!;
      if (packed.in !== 'pack' || object.in !== 'object' || cut.in !== 'chunks') throw new Error('elsewhere');
      expect(packed.storedBytes).toBeLessThan(FILES.pack!.length / 2);
      expect(object.storedBytes).toBe(sizeOf(objectKey(entries.get('object')!.blob)));
      for (const { hash, sizeBytes, storedBytes } of cut.chunks)
        expect(sizeOf(objectKey(hash))).toBe(storedBytes ?? sizeBytes);
      const kinds = new Set(cut.chunks.map(({ storedBytes }) => storedBytes === undefined));
      expect(kinds).toEqual(new Set([true, false]));
      for (const name of ['pack-plain', 'object-plain', 'tiny'])
        expect(entries.get(name)!.location).not.toHaveProperty('storedBytes');
      // A repository without it stores the same names.
      expect(createHash('sha256').update(FILES.object!).digest('hex')).toBe(entries.get('object')!.blob);
    },
  );

  it('is read back by clone, restore, cat and verify', async () => {
    await pushed();
    expect(describeTree(await clone())).toEqual(describeTree(root));
    for (const name of Object.keys(FILES)) rmSync(join(root, name));
    await restore(testContext(root), { paths: ['.'] });
    for (const [name, content] of Object.entries(FILES))
      expect(readFileSync(join(root, name)).equals(content)).toBe(true);
    for (const [name, content] of Object.entries(FILES)) {
      for (const [offsetBytes, lengthBytes] of [
        [0, content.length],
        [Math.floor(content.length / 3), 70_000],
      ] as const) {
        const pieces: Uint8Array[] = [];
        const request = { from: 'main', path: name, offsetBytes, lengthBytes };
        await readCommitted(testContext(root), request, async (piece) => void pieces.push(piece));
        const expected = content.subarray(offsetBytes, offsetBytes + lengthBytes);
        expect(Buffer.concat(pieces).equals(expected)).toBe(true);
      }
    }
    const checked = await verify(testContext(root), { readDataPercent: 100 });
    expect(checked).toMatchObject({ missing: 0, damaged: 0, affectedPaths: 0 });
  });

  it('resumes with what the index knows, and sends no chunk twice', async () => {
    await pushed();
    const changed = Buffer.concat([FILES.chunks!, Buffer.from('a new end\n'.repeat(30))]);
    sandbox.write('work/chunks', changed);
    const { requests } = await push(testContext(root), {});
    expect(requests.sentBytes).toBeLessThan(2 * MIB);
    expect(readFileSync(join(await clone(), 'chunks')).equals(changed)).toBe(true);
  });

  it('stores plain content if the repository was made so', async () => {
    await pushed('off');
    for (const { location } of (await entriesIn()).values()) {
      expect(location).not.toHaveProperty('storedBytes');
      if (location.in === 'chunks')
        for (const chunk of location.chunks) expect(chunk).not.toHaveProperty('storedBytes');
    }
    const descriptor = readFileSync(join(remote, 'dray.json'), 'utf8');
    expect(descriptor).not.toContain('zstd');
    expect(descriptor).not.toContain('compression');
  });
});

describe('several writers', () => {
  it('use what another one has stored plain, or with another level', async () => {
    await initWorkspace(testContext(root), { remoteUrl: remote, layout: LAYOUT, compression: 'auto' });
    const strong = compressBlob(FILES.object!, 'max')!;
    const hashOf = (content: Uint8Array) => createHash('sha256').update(content).digest('hex') as BlobHash;
    const other = table(60_000);
    sandbox.write(`remote/${objectKey(hashOf(FILES.object!))}`, strong);
    sandbox.write(`remote/${objectKey(hashOf(other))}`, other);
    sandbox.write('work/other', other);
    for (const [name, content] of Object.entries(FILES)) sandbox.write(`work/${name}`, content);
    // Refs make the repository one that is not empty, so the push asks.
    sandbox.write('first/x', 'x');
    await initWorkspace(testContext(sandbox.path('first')), { remoteUrl: remote, branch: 'first' });
    await push(testContext(sandbox.path('first')), {});
    await push(testContext(root), {});
    const entries = await entriesIn();
    expect(entries.get('object')!.location).toEqual({ in: 'object', storedBytes: strong.length });
    expect(entries.get('other')!.location).toEqual({ in: 'object' });
    expect(describeTree(await clone())).toEqual(describeTree(root));
  });

  it('learn from the store how it stores what another one wrote a moment before', async () => {
    const store = createMemoryStore();
    const { signal } = new AbortController();
    const hash = createHash('sha256').update(FILES.object!).digest('hex') as BlobHash;
    const key = objectKey(hash);
    await store.put(key, FILES.object!);
    const layout = { ...DEFAULT_LAYOUT, compression: 'auto' } as const;
    const bytes = compressBlob(FILES.object!, 'auto')!;
    const options = { store, layout, limit: createAdaptiveLimit({ fixed: 2, clock: systemClock }), signal };
    const blob = { key, hash, sizeBytes: FILES.object!.length, bytes };
    expect(await putBlob(options, blob)).toBe(FILES.object!.length);
  });

  it('record in the next commit what a repair has stored in another way', async () => {
    await pushed();
    const { blob } = (await entriesIn()).get('object')!;
    rmSync(join(remote, objectKey(blob)));
    sandbox.write(`remote/${objectKey(blob)}`, FILES.object!);
    await push(testContext(root), { noIndex: true });
    expect((await entriesIn()).get('object')!.location).toEqual({ in: 'object' });
    expect(describeTree(await clone())).toEqual(describeTree(root));
  });
});

/** What another version of zstd may have made of the content, and the content itself. */
const FORMS: Readonly<Record<string, (content: Uint8Array) => Uint8Array>> = {
  'a longer frame': (content) =>
    zstdCompressSync(content, { params: { [constants.ZSTD_c_compressionLevel]: -5 } }),
  'a shorter frame': (content) =>
    zstdCompressSync(content, { params: { [constants.ZSTD_c_compressionLevel]: 6 } }),
  plain: (content) => content,
};

describe('content that was lost, and is stored again in another way', () => {
  const short: readonly (readonly [Compression | 'off', string])[] = [
    ['auto', 'a longer frame'],
    ['off', 'a shorter frame'],
  ];
  const stored = runBudget({ short, long: [...short, ['auto', 'a shorter frame'], ['auto', 'plain']] });

  /** Stores every object again as this form of its content, wherever the form is smaller. */
  async function storeAgain(form: string): Promise<number> {
    let changed = 0;
    using session = await openSession(testContext(root), 'test', 'shared');
    await using opened = await openSessionRemote(session);
    for (const entry of (await entriesIn()).values()) {
      const { location } = entry;
      const content = FILES[entry.path]!;
      const objects =
        location.in === 'object' ? [{ hash: entry.blob, sizeBytes: entry.sizeBytes, ...location }] : [];
      let offset = 0;
      for (const chunk of location.in === 'chunks' ? location.chunks : objects) {
        const bytes = FORMS[form]!(content.subarray(offset, offset + chunk.sizeBytes));
        offset += chunk.sizeBytes;
        if (bytes.length > chunk.sizeBytes || bytes.length === (chunk.storedBytes ?? chunk.sizeBytes))
          continue;
        await opened.store.delete([objectKey(chunk.hash)]);
        await opened.store.put(objectKey(chunk.hash), bytes);
        changed += 1;
      }
    }
    return changed;
  }

  async function expectReadable() {
    for (const request of [{}, { readDataPercent: 100 }])
      expect(await verify(testContext(root), request)).toMatchObject({ missing: 0, damaged: 0 });
    for (const name of ['object', 'chunks']) {
      for (const range of [{}, { offsetBytes: 700_000, lengthBytes: 70_000 }]) {
        const pieces: Uint8Array[] = [];
        const request = { from: 'main', path: name, ...range };
        await readCommitted(testContext(root), request, async (piece) => void pieces.push(piece));
        const { offsetBytes = 0, lengthBytes = FILES[name]!.length } = range as { [name: string]: number };
        const expected = FILES[name]!.subarray(offsetBytes, offsetBytes + lengthBytes);
        expect(Buffer.concat(pieces).equals(expected)).toBe(true);
      }
    }
    expect(describeTree(await clone())).toEqual(describeTree(root));
  }

  it.each(stored)('is read by all commits that name it: %s, then %s', async (compression, form) => {
    await pushed(compression);
    expect(await storeAgain(form)).toBeGreaterThan(1);
    await expectReadable();
    expect(await repair(testContext(root), { readDataPercent: 100 })).toMatchObject({ found: 0 });
  });

  it('is read where two commits name two stored sizes of it', async () => {
    await pushed();
    await storeAgain('a shorter frame');
    await push(testContext(root), { noIndex: true });
    sandbox.write('work/tiny', 'changed');
    await push(testContext(root), { noIndex: true });
    expect(await verify(testContext(root), { readDataPercent: 100 })).toMatchObject({
      missing: 0,
      damaged: 0,
    });
  });

  it('is read in an encrypted repository', async () => {
    await pushed('auto', true);
    for (const form of runBudget({ short: ['a shorter frame'], long: ['a shorter frame', 'plain'] })) {
      expect(await storeAgain(form)).toBeGreaterThan(1);
      await expectReadable();
      rmSync(sandbox.path('copy'), { recursive: true });
    }
  });

  it('is read as one large object', async () => {
    const content = Buffer.concat([noise(30 * MIB, 3), Buffer.alloc(8 * MIB, 'a,b\n')]);
    sandbox.write('work/large', content);
    await initWorkspace(testContext(root), {
      remoteUrl: remote,
      layout: { packBelow: 0, chunkAbove: 0 },
      compression: 'off',
    });
    await push(testContext(root), {});
    const { blob } = (await entriesIn()).get('large')!;
    writeFileSync(join(remote, objectKey(blob)), FORMS['a shorter frame']!(content));
    expect(await verify(testContext(root), {})).toMatchObject({ missing: 0, damaged: 0 });
    expect(describeTree(await clone())).toEqual(describeTree(root));
  });
});

describe('damage of compressed content', () => {
  it.each(['pack', 'object', 'chunks'])('is found by clone, cat and verify: %s', async (name) => {
    await pushed();
    const { blob, location } = (await entriesIn()).get(name)!;
    if (location.in === 'nowhere') throw new Error('no content');
    const [key] =
      location.in === 'pack'
        ? keysBelow(remote, 'packs')
        : [objectKey(location.in === 'chunks' ? location.chunks[0]!.hash : blob)];
    const at = location.in === 'pack' ? location.offset + 100 : 100;
    const intact = readFileSync(join(remote, key!));
    const harms = [
      () => spoilObject(remote, key!, at),
      () => truncateObject(remote, key!, at),
      () => writeFileSync(join(remote, key!), Buffer.concat([intact.subarray(0, at), intact])),
    ];
    // Each harm is done to a pack in every run.
    for (const harm of harms.slice(0, runBudget({ short: name === 'pack' ? 3 : 1, long: 3 }))) {
      writeFileSync(join(remote, key!), intact);
      harm();
      const context = testContext(sandbox.folder);
      await cloneWorkspace(context, { url: remote, directory: sandbox.path('copy') });
      expect(damageIn(context.events)).toContainEqual([name, 'damaged']);
      expect(eventsOf(context, 'fileFailed').every(({ error }) => error.message.includes(key!))).toBe(true);
      rmSync(sandbox.path('copy'), { recursive: true });
      const request = { from: 'main', path: name };
      const read = readCommitted(testContext(root), request, async () => {});
      await expect(read).rejects.toMatchObject({ code: 'damaged', data: { key } });
      const checks = testContext(root);
      expect((await verify(checks, { readDataPercent: 100 })).damaged).toBe(1);
      expect(eventsOf(checks, 'check').flatMap(({ paths = [] }) => paths)).toContain(name);
    }
  });

  it('is a frame of other content, with its own right size', async () => {
    await pushed();
    const { blob, location } = (await entriesIn()).get('object')!;
    if (location.in !== 'object') throw new Error('elsewhere');
    const key = objectKey(blob);
    const intact = readFileSync(join(remote, key));
    const longer = compressBlob(Buffer.concat([FILES.object!, Buffer.alloc(50_000)]), 'auto')!;
    const frame = Buffer.alloc(intact.length);
    frame.set(longer.subarray(0, Math.min(longer.length, frame.length)));
    writeFileSync(join(remote, key), frame);
    const read = readCommitted(testContext(root), { from: 'main', path: 'object' }, async () => {});
    await expect(read).rejects.toMatchObject({ code: 'damaged', data: { key } });
    expect((await verify(testContext(root), { readDataPercent: 100 })).damaged).toBe(1);
  });

  it('is mended by a push without the index', async () => {
    await pushed();
    const { blob } = (await entriesIn()).get('object')!;
    const intact = readFileSync(join(remote, objectKey(blob)));
    rmSync(join(remote, objectKey(blob)));
    await push(testContext(root), { noIndex: true });
    expect(readFileSync(join(remote, objectKey(blob))).equals(intact)).toBe(true);
    expect(await verify(testContext(root), { readDataPercent: 100 })).toMatchObject({
      damaged: 0,
      missing: 0,
    });
  });
});
