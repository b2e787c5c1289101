import type { AccessKeys } from '../host/remotes.ts';

/**
 * The whole of what the desktop app adds to its window, as `window.dray`. The renderer has neither Node nor
 * Electron.
 *
 * Electron copies every value that crosses this bridge, so a MessagePort cannot. A requested port arrives as
 * a `message` event of the window, with `data` equal to `PORT_MESSAGE` and the port in `ports[0]`.
 */
export interface DesktopBridge {
  /**
   * Requests a new port to the engine and closes the old one. While the engine restarts, the port arrives
   * when it is ready.
   */
  readonly requestPort: () => void;
  /** The absolute path of a dropped or chosen file or folder; empty when it is not on disk. */
  readonly pathOf: (file: File) => string;
  /** Opens the system's folder dialog. Resolves to undefined when the user cancels. */
  readonly chooseFolder: (title: string) => Promise<string | undefined>;
  /**
   * Shows a file or folder of this computer in the system's file manager, without opening it. Resolves to
   * false if it does not exist.
   */
  readonly reveal: (path: string) => Promise<boolean>;
  /**
   * Begins the system's drag of files that the engine has prepared (`drags.prepare`). Call it during a drag's
   * first event, whose own drag is prevented.
   */
  readonly startDrag: (id: string) => Promise<void>;
  /** Shows a notification, as one about this job. Resolves to false if this system shows none. */
  readonly testNotice: (job: string) => Promise<boolean>;
  /** Store keys that the system encrypts for the engine. Their values never return to the window. */
  readonly secrets: {
    readonly state: () => Promise<SecretsState>;
    /**
     * Saves the keys of the `profile=` that URLs name, or removes them when `keys` is absent. Resolves once
     * the engine has them.
     */
    readonly saveKeys: (profile: string, keys?: AccessKeys) => Promise<SecretsState>;
  };
}

export const PORT_MESSAGE = 'dray:port';

/**
 * The last message of a port that the desktop closes: Chromium does not report that the other side of a port
 * has closed.
 */
export const PORT_END = 'dray:end';

export interface SecretsState {
  /** The profiles whose keys are saved. */
  readonly profiles: readonly string[];
  /** Shown before anything is saved: the system's encryption is missing or weak. */
  readonly warning?: string;
  /** False when keys cannot be saved on this system. */
  readonly isAvailable: boolean;
}
