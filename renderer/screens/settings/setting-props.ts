import type { Settings } from '../../../engine/api/host/settings.ts';

/** The props of each setting. */
export interface SettingProps {
  readonly settings: Settings;
  /** Applies at once; resolves when it is saved. Reports its own failures. */
  readonly set: (change: Partial<Settings>) => Promise<void>;
}
