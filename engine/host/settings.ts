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
  'settings.keepColumns': async ({ columns, table }, { host }) => {
    const { settings } = host.windowFile.change((facts) => {
      const { [table]: _, ...others } = facts.settings.columns ?? {};
      const next = columns.length === 0 ? others : { ...others, [table]: columns };
      return { ...facts, settings: { ...facts.settings, columns: next } };
    });
    return settings;
  },
};
