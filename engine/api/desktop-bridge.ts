import type { AccessKeys } from './host.ts';

/**
 * What the desktop app puts into its window as `window.dray`, and nothing else: the renderer has no Node and no Electron.
 *
 * A MessagePort cannot be a value of this bridge (Electron copies what passes it), so a port that was asked for arrives as a `message`
 * event of the window itself, with `data` equal to `PORT_MESSAGE` and the port in `ports[0]`.
 */
export interface DesktopBridge {
  /** Asks for a new port to the engine; the old one is closed. While the engine starts anew it takes that long. */
  readonly requestPort: () => void;
  /** The absolute path of a file or folder that was dropped or chosen; empty when it is none of the disk. */
  readonly pathOf: (file: File) => string;
  /** The system's dialog; undefined when nothing was chosen. */
  readonly chooseFolder: (title: string) => Promise<string | undefined>;
  readonly chooseFiles: (title: string) => Promise<readonly string[]>;
  /** Keys of stores that the system encrypts for the engine. Their values never come back into the window. */
  readonly secrets: {
    readonly state: () => Promise<SecretsState>;
    /** Of a store, under the name that URLs call its `profile=`. None: removes them. The engine has them when this resolves. */
    readonly saveKeys: (profile: string, keys?: AccessKeys) => Promise<SecretsState>;
  };
}

export const PORT_MESSAGE = 'dray:port';

/** The last message of a port that the desktop ends: Chromium tells a page nothing of a port whose other side was closed. */
export const PORT_END = 'dray:end';

export interface SecretsState {
  /** Those whose keys are saved. */
  readonly profiles: readonly string[];
  /** What a person has to know before anything is saved: the system encrypts nothing, or as good as nothing. */
  readonly warning?: string;
  /** False: nothing can be saved here. */
  readonly isAvailable: boolean;
}
