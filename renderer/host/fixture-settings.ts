/** Settings of the fixture host, kept while the window is open. */
import type { InputOf, Settings } from '../../engine/api/host.ts';

let settings: Settings = {
  theme: 'system',
  bandwidth: { limit: 20 * 1024 ** 2, from: '08:00', to: '18:30' },
  transfers: null,
  notifications: true,
  updates: 'stable',
};

export function getSettings(): Settings {
  return settings;
}

export function setSettings(change: InputOf<'settings.set'>): Settings {
  settings = { ...settings, ...change };
  return settings;
}
