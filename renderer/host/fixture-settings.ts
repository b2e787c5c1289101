/** Settings of the fixture host, kept while the window is open. */
import type { InputOf, Settings } from '../../engine/api/host.ts';
import type { FixtureHandlers } from './fixture-handlers.ts';

let settings: Settings = {
  theme: 'system',
  bandwidth: { limit: 20 * 1024 ** 2, from: '08:00', to: '18:30' },
  transfers: null,
  notifications: true,
};

function getSettings(): Settings {
  return settings;
}

function setSettings(change: InputOf<'settings.set'>): Settings {
  settings = { ...settings, ...change };
  return settings;
}

export const settingsFixture: FixtureHandlers = {
  'settings.get': getSettings,
  'settings.set': setSettings,
};
