import type { HandlersOf } from './port/host-call.ts';

export const SETTINGS: HandlersOf<'settings'> = {
  'settings.get': async (_input, { host }) => host.windowFile.read().settings,
  'settings.set': async (input, { host }) => {
    const { settings } = host.windowFile.change((facts) => ({
      ...facts,
      settings: { ...facts.settings, ...input },
    }));
    return settings;
  },
};
