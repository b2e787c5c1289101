import type { Settings } from '../../../engine/api/host/settings.ts';

/** The props of each setting. */
export interface SettingProps {
  readonly settings: Settings;
  /**
   * Applies at once; resolves when it is saved. Reports its own failures. A function gets the settings as
   * they are then, which may be newer than those on the screen: for a change of a part of a setting.
   */
  readonly set: (change: SettingChange) => Promise<void>;
}

export type SettingChange = Partial<Settings> | ((now: Settings) => Partial<Settings>);
