import type { Settings } from '../../../engine/api/host.ts';

/** What each of the settings is given. */
export interface SettingProps {
  readonly settings: Settings;
  /** Holds at once; ends when it is kept. What fails is told by itself. */
  readonly set: (change: Partial<Settings>) => Promise<void>;
}
