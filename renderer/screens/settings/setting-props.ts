import type { Settings } from '../../../engine/api/host.ts';

/** What each of the settings is given. */
export interface SettingProps {
  readonly settings: Settings;
  readonly set: (change: Partial<Settings>) => void;
}
