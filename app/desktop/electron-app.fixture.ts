/** The fake Electron's `app`: the order of events at start and quit. */
import { EventEmitter } from 'node:events';
import type { Settings } from 'electron';
import { type FakeBounds, type FakeWindow, preventable } from './electron-window.fixture.ts';

export interface FakeOptions {
  readonly userData: string;
  readonly home?: string;
  readonly isPackaged?: boolean;
  /** False: another one already runs. */
  readonly isFirst?: boolean;
  readonly platform?: NodeJS.Platform;
  readonly storageBackend?: 'basic_text' | 'gnome_libsecret' | 'none';
  readonly displays?: readonly FakeBounds[];
  /** When the app's entry module has been evaluated. */
  readonly whenLoaded?: Promise<void>;
}

export class FakeApp extends EventEmitter {
  readonly isPackaged: boolean;
  badge = 0;
  isSandboxed = false;
  hasQuit = false;
  protocolClients: string[] = [];
  userModelId = '';
  loginItem: { openAtLogin: boolean; args?: readonly string[] } = { openAtLogin: false };
  readonly #options: FakeOptions;
  readonly #windows: FakeWindow[];
  #isReady = false;
  #isQuitting = false;

  constructor(options: FakeOptions, windows: FakeWindow[]) {
    super();
    this.#options = options;
    this.#windows = windows;
    this.isPackaged = options.isPackaged ?? true;
  }

  requestSingleInstanceLock = (): boolean => this.#options.isFirst ?? true;
  isReady = (): boolean => this.#isReady;
  isQuitting = (): boolean => this.#isQuitting;

  /**
   * As in Electron, only after the entry module has run to its end. A top-level await on this waits for ever.
   */
  async whenReady(): Promise<void> {
    await this.#options.whenLoaded;
    this.#isReady = true;
  }

  enableSandbox(): void {
    if (this.#isReady) throw new Error('app.enableSandbox() can only be called before app is ready');
    this.isSandboxed = true;
  }

  setAppUserModelId(id: string): void {
    this.userModelId = id;
  }

  setAsDefaultProtocolClient(scheme: string): boolean {
    this.protocolClients.push(scheme);
    return true;
  }

  getPath(name: string): string {
    if (name === 'userData') return this.#options.userData;
    if (name === 'home') return this.#options.home ?? this.#options.userData;
    throw new Error(`Failed to get '${name}' path`);
  }

  setBadgeCount(count = 0): boolean {
    this.badge = count;
    return true;
  }

  getLoginItemSettings(): { readonly openAtLogin: boolean } {
    return this.loginItem;
  }

  setLoginItemSettings({ openAtLogin = false, args }: Settings): void {
    this.loginItem = { openAtLogin, ...(args && { args }) };
  }

  /**
   * `before-quit`, each window's close, `will-quit`, `quit`. A listener that prevents one stops the sequence.
   */
  quit(): void {
    if (this.hasQuit) return;
    const before = preventable();
    this.emit('before-quit', before);
    if (before.defaultPrevented) return;
    this.#isQuitting = true;
    for (const window of [...this.#windows]) {
      if (window.close()) continue;
      this.#isQuitting = false;
      return;
    }
    const will = preventable();
    this.emit('will-quit', will);
    if (will.defaultPrevented) return;
    this.hasQuit = true;
    this.emit('quit');
  }
}
