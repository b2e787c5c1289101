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
  /** Credentials that the system keeps for the engine. Their values never come back into the window. */
  readonly secrets: {
    readonly list: () => Promise<SecretsState>;
    /** An empty value removes it. The engine is started anew to take it. */
    readonly save: (name: SecretName, value: string) => Promise<SecretsState>;
  };
}

export const PORT_MESSAGE = 'dray:port';

/** The last message of a port that the desktop ends: Chromium tells a page nothing of a port whose other side was closed. */
export const PORT_END = 'dray:end';

/** What the engine takes from its environment, and a program started from a dock has not got. */
export const SECRET_NAMES = [
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'DRAY_TOKEN',
] as const;
export type SecretName = (typeof SECRET_NAMES)[number];

export interface SecretsState {
  readonly saved: readonly SecretName[];
  /** What a person has to know before anything is saved: the system encrypts nothing, or as good as nothing. */
  readonly warning?: string;
  /** False: nothing can be saved here. */
  readonly isAvailable: boolean;
}
