/** Set-uid, set-gid and sticky bits are copied only when both sides were asked to. */
import { chmodSync, lstatSync, mkdirSync, truncateSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { syncTree } from './copy-tree.ts';
import { createDressedTrees } from './folders/dressed-tree.fixture.ts';

const trees = createDressedTrees();
const { context, path, peer, write } = trees;
afterEach(() => trees.close());

const modeOf = (name: string) => (lstatSync(path(name)).mode & 0o7777).toString(8);
const FILES = ['small', 'large', 'folder/sticky'];

/** A file that goes in a batch, one that goes in ranges, and a folder. */
function plant(root: string): void {
  write(`${root}/folder/sticky`, 'x');
  write(`${root}/small`, 'x');
  write(`${root}/large`, '');
  truncateSync(path(`${root}/large`), 5 * 1024 * 1024);
  for (const file of FILES) chmodSync(path(`${root}/${file}`), 0o6755);
  chmodSync(path(`${root}/folder`), 0o3755);
}

const modesIn = (root: string) => [...FILES, 'folder'].map((name) => modeOf(`${root}/${name}`));
const PLAIN = ['755', '755', '755', '755'];
const SPECIAL = ['6755', '6755', '6755', '3755'];

describe.runIf(process.platform !== 'win32')('special bits of files and folders', () => {
  describe.each([
    { serves: 'as it is by default', specialModes: false },
    { serves: 'with --special-modes', specialModes: true },
  ])('and a peer that serves $serves', ({ specialModes }) => {
    beforeEach(() => trees.open({ specialModes }));
    const pull = {
      source: () => peer('from'),
      destination: () => ({ place: 'to' }),
      from: 'offered/from',
      to: 'to',
    };
    const push = {
      source: () => ({ place: 'from' }),
      destination: () => peer('to'),
      from: 'from',
      to: 'offered/to',
    };

    it.each([
      ['to it', push],
      ['from it', pull],
    ])('are not copied %s, and a second run finds nothing to do', async (_, way) => {
      plant(way.from);
      const sync = () => syncTree(context(), { source: way.source(), destination: way.destination() });
      expect(await sync()).toMatchObject({ failed: 0 });
      expect(modesIn(way.to)).toEqual(PLAIN);
      expect(await sync()).toMatchObject({ result: 'upToDate', touchedFolders: 0 });
    });

    it.each([
      ['to it, where it takes them', push, specialModes],
      ['from it', pull, true],
    ])('go %s with --special-modes', async (_, way, isTaken) => {
      plant(way.from);
      const wish = { source: way.source(), destination: way.destination(), specialModes: true };
      expect(await syncTree(context(), wish)).toMatchObject({ failed: 0 });
      expect(modesIn(way.to)).toEqual(isTaken ? SPECIAL : PLAIN);
    });
  });

  it('of a folder at the destination stay as they are', async () => {
    await trees.open();
    plant('from');
    chmodSync(path('from/folder'), 0o750);
    for (const [to, place] of [
      ['to', { place: 'to' }],
      ['offered/to', peer('to')],
    ] as const) {
      mkdirSync(path(`${to}/folder`), { recursive: true });
      chmodSync(path(`${to}/folder`), 0o2775);
      expect(await syncTree(context(), { source: { place: 'from' }, destination: place })).toMatchObject({
        failed: 0,
      });
      expect(modeOf(`${to}/folder`)).toBe('2750');
    }
  });
});
