import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Settings } from '../api/host.ts';
import { readVersion } from '../base/dray-version.ts';
import { createHostFixture, type HostFixture, transferIn } from './host-fixture.ts';
import { packageEndings } from './update-packages.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

const [ending] = packageEndings({
  platform: process.platform,
  arch: process.arch,
  isAppImage: false,
  isDebian: existsSync('/etc/debian_version'),
});
const nameOf = (version: string) => `Dray-${version}${ending}`;

let fixture: HostFixture;
beforeEach(() => {
  fixture = createHostFixture();
});
afterEach(() => fixture[Symbol.asyncDispose]());

const choose = (updates: Settings['updates']) => fixture.client.ask('settings.set', { updates });
const look = () => fixture.client.ask('updates.look', {});
const isDue = async () => (await fixture.client.ask('updates.claimDaily', {})).isDue;

function writePackages(versions: readonly string[]): string {
  const folder = fixture.sandbox.path('packages');
  mkdirSync(folder, { recursive: true });
  for (const version of versions) writeFileSync(join(folder, nameOf(version)), `Dray ${version}`);
  return folder;
}

describe.skipIf(ending === undefined)('A look for updates', () => {
  it('tells the newest package of the channel in a folder, which can be copied as it is told', async () => {
    const place = writePackages(['0.0.1', '999.0.0', '999.1.0-beta.2']);
    mkdirSync(join(place, nameOf('1000.0.0')));
    await choose({ channel: 'stable', place });
    const stable = await look();
    expect(stable).toMatchObject({
      version: readVersion(),
      fitting: 2,
      newer: { version: '999.0.0', name: nameOf('999.0.0'), sizeBytes: 'Dray 999.0.0'.length },
    });
    await choose({ channel: 'preview', place });
    expect((await look()).newer?.version).toBe('999.1.0-beta.2');

    const downloads = fixture.sandbox.path('downloads');
    mkdirSync(downloads);
    const order = { kind: 'copy', source: stable.newer!.place, destination: `${downloads}/` } as const;
    const { id } = await fixture.client.ask('transfers.start', order);
    expect(await transferIn(fixture.client, id, ['done', 'failed'])).toMatchObject({ state: 'done' });
    expect(readFileSync(join(downloads, nameOf('999.0.0')), 'utf8')).toBe('Dray 999.0.0');
  });

  it('goes by the name of a remote too', async () => {
    const url = writePackages(['999.0.0']);
    await fixture.client.ask('remotes.add', { name: 'tools', url });
    await choose({ channel: 'stable', place: 'tools:' });
    expect((await look()).newer?.place).toBe(join(url, nameOf('999.0.0')));
  });

  it('tells nothing newer where this Dray is the newest, and what it looked for where nothing fits', async () => {
    const place = writePackages([readVersion()]);
    await choose({ channel: 'preview', place });
    const own = await look();
    expect(own).toMatchObject({ fitting: 1, names: expect.arrayContaining([nameOf('VERSION')]) });
    expect(own.newer).toBeUndefined();
    const empty = fixture.sandbox.path('empty');
    mkdirSync(empty);
    await choose({ channel: 'preview', place: empty });
    expect(await look()).toMatchObject({ fitting: 0 });
  });

  it('says what is wrong with the place', async () => {
    await choose({ channel: 'stable', place: fixture.sandbox.path('gone') });
    await expect(look()).rejects.toMatchObject({ code: 'notFound' });
    await choose({ channel: 'stable', place: 'nobody:' });
    await expect(look()).rejects.toMatchObject({ code: 'usage' });
  });

  it('is refused, and not due, while the channel is off or no place is chosen', async () => {
    const place = writePackages(['999.0.0']);
    for (const updates of [
      { channel: 'off', place },
      { channel: 'stable', place: null },
    ] as const) {
      await choose(updates);
      expect(await isDue()).toBe(false);
      await expect(look()).rejects.toMatchObject({ code: 'usage' });
    }
  });
});

describe('The look of the day', () => {
  it('is due once a day for all windows, and anew when the settings of it change', async () => {
    await choose({ channel: 'stable', place: '/packages' });
    expect(await isDue()).toBe(true);
    expect((await fixture.connect().ask('updates.claimDaily', {})).isDue).toBe(false);
    await fixture.client.ask('settings.set', { theme: 'dark' });
    expect(await isDue()).toBe(false);
    const { windowFile } = fixture.host;
    for (const awayMs of [-DAY_MS, DAY_MS / 2]) {
      windowFile.change((facts) => ({ ...facts, updatesLookedMs: facts.updatesLookedMs! + awayMs }));
      expect(await isDue()).toBe(true);
      expect(await isDue()).toBe(false);
    }
    await choose({ channel: 'preview', place: '/packages' });
    expect(await isDue()).toBe(true);
  });
});

describe('Settings of before there was a place', () => {
  it('are read, with updates off', async () => {
    const path = join(fixture.host.folder, 'window.json');
    mkdirSync(fixture.host.folder, { recursive: true });
    const older = { theme: 'dark', bandwidth: { limit: 5000 }, transfers: 7, notifications: false };
    for (const updates of [undefined, 'stable', { channel: 'nightly', place: null }]) {
      writeFileSync(path, JSON.stringify({ workspaces: ['/data'], settings: { ...older, updates } }));
      expect(fixture.host.windowFile.read()).toEqual({
        workspaces: ['/data'],
        settings: { ...older, updates: { channel: 'off', place: null } },
      });
    }
    expect(existsSync(`${path}.damaged`)).toBe(false);
  });
});
