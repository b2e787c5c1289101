import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DRAG_FILES_MAX } from '../../api/host/drags.ts';
import type { HostEvent } from '../../api/host.ts';
import { push } from '../../jobs/push/push.ts';
import { testContext } from '../../jobs/session/job.fixture.ts';
import { createHostFixture, type HostFixture } from '../host.fixture.ts';

let fixture: HostFixture;
let place: string;
beforeEach(async () => {
  fixture = createHostFixture();
  const root = await fixture.workspace();
  fixture.sandbox.write('work/a.txt', 'of a');
  fixture.sandbox.write('work/raw/b.bin', Buffer.alloc(3_000_000, 'of b '));
  fixture.sandbox.write('work/raw/deep/c.txt', 'of c');
  symlinkSync('a.txt', join(root, 'link'));
  mkdirSync(join(root, 'none'));
  await push(testContext(root), {});
  place = `file://${fixture.sandbox.path('work-remote')}?ref=main`;
});
afterEach(() => fixture[Symbol.asyncDispose]());

const prepare = (paths: readonly string[], at = place, client = fixture.client) =>
  client.ask('drags.prepare', { place: at, paths });
const folders = () => readdirSync(tmpdir()).filter((name) => name.startsWith('dray-drag-'));
const begin = async (id: string) => (await fixture.client.ask('drags.begin', { id })).paths;

describe('a part of a version that is dragged', () => {
  it('lies in a folder that only its user can enter, until the engine ends', async () => {
    const events: HostEvent[] = [];
    const onEvents = (more: readonly HostEvent[]) => void events.push(...more);
    const input = { place, paths: ['a.txt', 'raw/', 'link', 'none/'] };
    const { bytes, files, id } = await fixture.client.ask('drags.prepare', input, { onEvents });
    expect({ bytes, files }).toEqual({ bytes: 3_000_008, files: 4 });
    expect(events.some(({ type }) => type === 'progress')).toBe(true);
    const paths = await begin(id);
    const folder = dirname(paths[0]!);
    expect(paths.map((path) => basename(path)).sort()).toEqual(['a.txt', 'link', 'none', 'raw']);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(readFileSync(join(folder, 'raw/deep/c.txt'), 'utf8')).toBe('of c');
    expect(readdirSync(join(folder, 'none'))).toEqual([]);
    // A program may still read them.
    await fixture.client.ask('drags.forget', { id });
    expect(existsSync(folder)).toBe(true);
    await fixture.host.close();
    expect(existsSync(folder)).toBe(false);
  });

  it('begins at the open folder, and goes when its dialog or its page does', async () => {
    const below = `file://${fixture.sandbox.path('work-remote')}?ref=main&path=raw/`;
    const { id } = await prepare(['.'], below);
    const paths = await begin(id);
    expect(paths.map((path) => basename(path)).sort()).toEqual(['b.bin', 'deep']);
    const other = await prepare(['deep/c.txt'], below);
    await fixture.client.ask('drags.forget', { id: other.id });
    await expect(begin(other.id)).rejects.toMatchObject({ code: 'notFound' });
    const page = fixture.connect();
    const before = folders();
    await prepare(['b.bin'], below, page);
    expect(folders()).toHaveLength(before.length + 1);
    page.close();
    await expect.poll(folders).toEqual(before);
  });

  it('is refused before the first byte if it is too much', async () => {
    const before = folders();
    for (let at = 0; at <= DRAG_FILES_MAX; at += 1) fixture.sandbox.write(`work/many/${at}`, '');
    await push(testContext(fixture.sandbox.path('work')), {});
    await expect(prepare(['many/'])).rejects.toMatchObject({
      code: 'usage',
      message: 'A drag takes at most 10,000 files and 2.0 GiB. Copy this part out to a folder instead.',
      data: { reason: 'tooMuchToDrag' },
    });
    expect(folders()).toEqual(before);
  });

  it('is refused when it is no version, or not in it', async () => {
    await expect(prepare(['a.txt'], fixture.sandbox.path('work'))).rejects.toMatchObject({ code: 'usage' });
    await expect(prepare(['no.txt'])).rejects.toMatchObject({ code: 'notFound' });
    await expect(prepare(['../config'])).rejects.toMatchObject({ code: 'notFound' });
  });
});

describe('a file that is read for a browser', () => {
  const rest = async () => {
    const pieces: Buffer[] = [];
    for (;;) {
      const { base64 } = await fixture.client.ask('drags.next', {});
      if (base64 === undefined) return Buffer.concat(pieces);
      pieces.push(Buffer.from(base64, 'base64'));
    }
  };

  it('comes whole, of a version and of this machine', async () => {
    const path = `file://${fixture.sandbox.path('work-remote')}?ref=main&path=raw/b.bin`;
    await fixture.client.ask('drags.open', { place: path });
    expect((await rest()).equals(Buffer.alloc(3_000_000, 'of b '))).toBe(true);
    await fixture.client.ask('drags.open', { place: fixture.sandbox.path('work/a.txt') });
    expect((await rest()).toString()).toBe('of a');
    // A second one ends the first.
    await fixture.client.ask('drags.open', { place: path });
    await fixture.client.ask('drags.open', { place: fixture.sandbox.path('work/a.txt') });
    expect((await rest()).toString()).toBe('of a');
  });

  it('fails as its reading does', async () => {
    await fixture.client.ask('drags.open', { place: fixture.sandbox.path('gone') });
    await expect(rest()).rejects.toMatchObject({ code: 'notFound' });
  });
});
