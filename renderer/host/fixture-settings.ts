/** Settings of the fixture host, kept while the window is open. */
import type { InputOf, Settings, UpdateLook } from '../../engine/api/host.ts';
import type { FixtureHandlers } from './fixture-handlers.ts';

let settings: Settings = {
  theme: 'system',
  bandwidth: { limit: 20 * 1024 ** 2, from: '08:00', to: '18:30' },
  transfers: null,
  notifications: true,
  updates: { channel: 'stable', place: 's3://tools/dray' },
};

function getSettings(): Settings {
  return settings;
}

function setSettings(change: InputOf<'settings.set'>): Settings {
  settings = { ...settings, ...change };
  return settings;
}

function lookForUpdates(): UpdateLook {
  const name = 'Dray-9.2.0-linux-amd64.deb';
  return {
    version: '9.1.0',
    newer: { version: '9.2.0', name, place: `s3://tools/dray/${name}`, sizeBytes: 86_240_118 },
    fitting: 2,
    names: ['Dray-VERSION-linux-amd64.deb'],
    downloads: '/home/ada/Downloads',
  };
}

export const settingsFixture: FixtureHandlers = {
  'settings.get': getSettings,
  'settings.set': setSettings,
  'updates.claimDaily': () => ({ isDue: false }),
  'updates.look': lookForUpdates,
};
