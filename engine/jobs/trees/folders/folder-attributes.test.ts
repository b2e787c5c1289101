import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CopyRequest, SyncRequest } from '../../../api/jobs/trees.ts';
import { eventsOf, type TestContext } from '../../session/job.fixture.ts';
import { copyTree, syncTree } from '../copy-tree.ts';
import { createDressedTrees, OLD_S } from './dressed-tree.fixture.ts';

const trees = createDressedTrees();
const { context, dress, foldersOf, peer, plant } = trees;
beforeEach(() => trees.open());
afterEach(() => trees.close());

const here = (path: string) => ({ place: path });
const times = (reported: TestContext) =>
  eventsOf(reported, 'change').flatMap(({ change, kind, path }) =>
    change === 'time' && kind === 'folder' ? [path] : [],
  );

/**
 * The name of each pair of places, the path of the copy, and the requests of a run that finds nothing to do.
 */
const PAIRS = [
  ['a folder and a folder', here('from'), here('to'), 'to', 0],
  ['a folder and a peer', here('from'), peerLater('to'), 'offered/to', 1],
  ['a peer and a folder', peerLater('from'), here('to'), 'to', 1],
  ['a peer and a peer', peerLater('from'), peerLater('to'), 'offered/to', 2],
] as const;

/** The port is known when a test begins. */
function peerLater(path: string) {
  return { offered: path };
}
type End = { readonly place: string } | { readonly offered: string };
const placeOf = (end: End) => ('offered' in end ? peer(end.offered) : end);

describe.each(PAIRS)('between %s, modes and times of folders', (name, from, to, copied, lists) => {
  const isLocal = name === 'a folder and a folder';
  const wish = (more: Partial<SyncRequest> = {}): SyncRequest => ({
    source: placeOf(from),
    destination: placeOf(to),
    ...more,
  });
  const source = 'offered' in from ? 'offered/from' : 'from';
  const copy = (more: Partial<CopyRequest> = {}, reported = context()) => copyTree(reported, wish(more));
  const sync = (more: Partial<SyncRequest> = {}, reported = context()) => syncTree(reported, wish(more));
  /** As at the source; between local folders, empty ones are not copied. */
  const expected = (): Readonly<Record<string, string | undefined>> => {
    const { empty, ...others } = foldersOf(source);
    return isLocal ? others : { ...others, empty };
  };
  beforeEach(() => {
    plant();
    if (source !== 'from') renameSync(trees.path('from'), trees.path(source));
    // Its parent is not part of it.
    dress(source, 0o711, OLD_S + 6);
  });

  it('are those of the source, and a second run finds nothing to do', async () => {
    expect(await copy()).toMatchObject({ failed: 0, touchedFolders: 0 });
    expect(foldersOf(copied)).toEqual(expected());
    const again = await copy();
    expect(again).toMatchObject({ result: 'upToDate', touchedFolders: 0, requests: { lists } });
    // A place at a peer may be a file, so one request asks for the source.
    expect(again.requests.total).toBe(lists + ('offered' in from ? 1 : 0));
    expect(foldersOf(copied)).toEqual(expected());
  });

  it('are set together and reported when only they differ, and a dry run forecasts them', async () => {
    await copy();
    const before = foldersOf(copied);
    dress(`${source}/a/c`, 0o755, OLD_S + 3.000_001);
    dress(`${source}/a`, 0o700, OLD_S + 44);
    const dry = context();
    const planned = await copy({ dryRun: true }, dry);
    expect(planned).toMatchObject({ result: 'wouldCopy', touchedFolders: 2, copiedFiles: 0 });
    expect(foldersOf(copied)).toEqual(before);
    const reported = context();
    const done = await copy({}, reported);
    expect(done).toMatchObject({ result: 'copied', touchedFolders: 2, copiedFiles: 0 });
    expect(times(reported)).toEqual(['a/c/', 'a/']);
    expect(times(dry)).toEqual(times(reported));
    expect(foldersOf(copied)).toEqual(expected());
    const took = done.requests.total - planned.requests.total;
    expect(took).toBe(planned.forecast!.total);
    expect(took).toBeLessThanOrEqual(2);
  });

  it('are right after files in them came, changed and went, even where the folder forbids writing', async () => {
    await copy();
    chmodSync(trees.path(source, 'a/b'), 0o755);
    writeFileSync(trees.path(source, 'a/b/three'), 'new');
    rmSync(trees.path(source, 'a/b/one'));
    dress(`${source}/a/b`, 0o555, OLD_S + 2.5);
    rmSync(trees.path(source, 'a-b'), { recursive: true });
    dress(source, 0o711, OLD_S + 6);
    const reported = context();
    expect(await sync({}, reported)).toMatchObject({ copiedFiles: 1, deletedFiles: 2, failed: 0 });
    expect(times(reported)).toEqual([]);
    expect(readdirSync(trees.path(copied, 'a/b'))).toEqual(['three', 'two']);
    expect(foldersOf(copied)).toEqual(expected());
    expect(await sync()).toMatchObject({ result: 'upToDate' });
  });

  it('are right for all folders above a changed file', async () => {
    await copy();
    trees.write(`${source}/a/c/three`, 'changed');
    dress(`${source}/a/c`, 0o711, OLD_S + 3.000_001);
    const reported = context();
    expect(await copy({}, reported)).toMatchObject({ copiedFiles: 1, touchedFolders: 0, failed: 0 });
    expect(foldersOf(copied)).toEqual(expected());
    expect(await copy()).toMatchObject({ result: 'upToDate' });
  });

  it('are repaired by the next run after a kill before they were set', async () => {
    await copy();
    for (const path of ['a/b', 'a', '.']) dress(`${copied}/${path}`, 0o755, OLD_S + 100);
    expect(await copy()).toMatchObject({ touchedFolders: 3, copiedFiles: 0, failed: 0 });
    expect(foldersOf(copied)).toEqual(expected());
  });

  it('of folders that the source does not have stay as they are', async () => {
    await copy();
    mkdirSync(trees.path(copied, 'a/own'));
    writeFileSync(trees.path(copied, 'a/own/file'), 'mine');
    dress(`${copied}/a/own`, 0o700, OLD_S + 7);
    const own = foldersOf(copied)['a/own'];
    expect(await copy()).toMatchObject({ touchedFolders: 1, failed: 0 });
    expect(foldersOf(copied)).toEqual({ ...expected(), 'a/own': own });
  });

  it('are set above the files that pass the filter, and nowhere else', async () => {
    await copy({ filter: { rules: ruled(['include', 'three'], ['exclude', '**']) } });
    const { '.': root, a, 'a/c': c } = foldersOf(source);
    expect(foldersOf(copied)).toEqual({ '.': root, a, 'a/c': c });
    dress(`${source}/a/b`, 0o777, OLD_S + 55);
    await copy();
    dress(`${source}/a/b`, 0o755, OLD_S + 66);
    const filter = { rules: ruled(['exclude', '/a/b/**']) };
    expect(await sync({ filter })).toMatchObject({ result: 'upToDate' });
    expect(await sync()).toMatchObject({ touchedFolders: 1 });
  });

  it('are set at the end even when a sync refuses to delete, and --max-delete then does the rest', async () => {
    await copy();
    rmSync(trees.path(source, 'top'));
    trees.write(`${source}/a/c/four`, 'new');
    dress(`${source}/a/c`, 0o700, OLD_S + 8);
    dress(source, 0o711, OLD_S + 9);
    await expect(sync({ maxDelete: { files: 0 } })).rejects.toMatchObject({ code: 'tooManyDeletes' });
    expect(foldersOf(copied)).toEqual(expected());
    expect(await sync()).toMatchObject({ deletedFiles: 1, failed: 0 });
    expect(foldersOf(copied)).toEqual(expected());
  });

  it('follow --size-only, --update and --immutable as files do', async () => {
    await copy();
    dress(`${source}/a`, 0o700, OLD_S - 9);
    expect(await copy({ compare: 'sizeOnly' })).toMatchObject({ result: 'upToDate' });
    expect(await copy({ immutable: true })).toMatchObject({ result: 'upToDate' });
    // --update compares files, not folders.
    expect(await copy({ update: true })).toMatchObject({ touchedFolders: 1 });
    dress(`${source}/a`, 0o755, OLD_S - 9);
    expect(await copy({ immutable: true })).toMatchObject({ result: 'upToDate' });
    expect(await copy({ compare: 'sizeOnly' })).toMatchObject({ touchedFolders: 1 });
    expect(foldersOf(copied)).toEqual(expected());
  });

  it('are set with --no-check-dest too', async () => {
    await copy();
    dress(`${copied}/a/c`, 0o700, OLD_S + 99);
    expect(await copy({ noCheckDestination: true })).toMatchObject({ failed: 0 });
    expect(foldersOf(copied)['a/c']).toEqual(expected()['a/c']);
  });

  it('do not follow a link in the place of a folder', async () => {
    mkdirSync(trees.path('outside/c'), { recursive: true });
    dress('outside', 0o700, OLD_S);
    const before = foldersOf('outside');
    mkdirSync(trees.path(copied));
    symlinkSync(trees.path('outside'), trees.path(copied, 'a'));
    const reported = context();
    await copy({}, reported);
    expect(foldersOf('outside')).toEqual(before);
    expect(eventsOf(reported, 'fileFailed').map(({ path }) => path)).toEqual(
      expect.arrayContaining(['a/b/one', 'a/c/three']),
    );
  });
});

function ruled(...rules: (readonly ['include' | 'exclude', string])[]) {
  return rules.map(([action, pattern]) => ({ action, pattern }));
}
