/**
 * A fake of the `electron` module for tests of the main process. It does what Electron's documentation says of the parts that are used
 * here, its refusals and its order of events too; what a person, the page or the system does is called from a test by `person`.
 *
 * Where nothing denies it a permission is granted, a window opens and a page navigates: as in Electron, so that a test sees what is missing.
 */
import { EventEmitter } from 'node:events';
import type { ElectronParts } from './electron-parts.ts';
import {
  type FakeBounds,
  type FakeFrame,
  FakeMessageChannel,
  type FakeWebContents,
  FakeWindow,
  preventable,
} from './electron-window.fixture.ts';

export interface FakeOptions {
  readonly userData: string;
  readonly home?: string;
  readonly isPackaged?: boolean;
  /** False: another one runs already. */
  readonly isFirst?: boolean;
  readonly platform?: NodeJS.Platform;
  readonly storageBackend?: 'basic_text' | 'gnome_libsecret' | 'none';
  readonly displays?: readonly FakeBounds[];
  /** When the entry of the app has been evaluated. */
  readonly whenLoaded?: Promise<void>;
}

export interface FakeMenuItem {
  readonly id?: string;
  readonly label?: string;
  readonly role?: string;
  readonly accelerator?: string;
  checked?: boolean;
  readonly click?: (item: FakeMenuItem) => void;
  readonly submenu?: readonly FakeMenuItem[];
}

type Handler = (
  event: { senderFrame: FakeFrame | null; sender: FakeWebContents },
  ...given: unknown[]
) => unknown;

export type FakeElectron = ReturnType<typeof createFakeElectron>;

export function createFakeElectron(options: FakeOptions) {
  const windows: FakeWindow[] = [];
  const app = createApp(options, windows);
  const ipc = createIpc();
  const protocol = createProtocol(app);
  const session = createSession();
  const dialog = createDialog();
  const notifications = createNotifications();
  const trays: FakeTray[] = [];
  const opened: string[] = [];
  let applicationMenu: readonly FakeMenuItem[] = [];

  class BrowserWindow extends FakeWindow {
    constructor(given: Record<string, unknown>) {
      if (!app.isReady()) throw new Error('Cannot create BrowserWindow before app is ready');
      super(given);
      windows.push(this);
      app.emit('web-contents-created', preventable(), this.webContents);
      this.once('closed', () => {
        windows.splice(windows.indexOf(this), 1);
        // After whoever listens to the window itself. Without a listener Electron quits.
        queueMicrotask(() => {
          if (windows.length > 0 || app.isQuitting()) return;
          if (!app.emit('window-all-closed')) app.quit();
        });
      });
    }
  }

  class Tray extends FakeTray {
    constructor(icon: { readonly path: string }) {
      super(icon.path);
      trays.push(this);
    }
  }

  const parts = {
    app,
    BrowserWindow,
    dialog: dialog.part,
    ipcMain: ipc.part,
    Menu: {
      buildFromTemplate: (template: readonly FakeMenuItem[]) => template,
      setApplicationMenu: (menu: readonly FakeMenuItem[]) => {
        applicationMenu = menu;
      },
    },
    MessageChannelMain: FakeMessageChannel,
    nativeImage: { createFromPath: (path: string) => ({ path, setTemplateImage() {} }) },
    Notification: notifications.part,
    protocol: protocol.part,
    safeStorage: createSafeStorage(options, app),
    screen: {
      getAllDisplays: () =>
        (options.displays ?? [{ x: 0, y: 0, width: 1920, height: 1080 }]).map((workArea) => ({ workArea })),
    },
    session: { defaultSession: session.part },
    shell: {
      openExternal: async (url: string) => {
        opened.push(url);
      },
    },
    Tray,
  };

  return {
    electron: parts as unknown as ElectronParts,
    app,
    windows,
    trays,
    /** Handed to the system's browser. */
    opened,
    notifications: notifications.shown,
    dialogs: dialog.asked,
    menu: () => applicationMenu,
    person: {
      /** The answers of the boxes that come, in order; the first button where none is left. */
      answers: dialog.answers,
      chooses: dialog.chooses,
      clicksMenu: (id: string) => {
        const item = findItem(applicationMenu, id);
        if (!item?.click) throw new Error(`There is no menu item "${id}".`);
        if (item.checked !== undefined) item.checked = !item.checked;
        item.click(item);
      },
    },
    page: { invokes: ipc.invoke, sends: ipc.send, fetches: protocol.fetch, ...session.page },
  };
}

function findItem(items: readonly FakeMenuItem[], id: string): FakeMenuItem | undefined {
  for (const item of items) {
    const found = item.id === id ? item : findItem(item.submenu ?? [], id);
    if (found) return found;
  }
  return undefined;
}

class FakeApp extends EventEmitter {
  readonly isPackaged: boolean;
  badge = 0;
  isSandboxed = false;
  hasQuit = false;
  protocolClients: string[] = [];
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

  /** As Electron, only once the module that asks has run to its end: one that awaits this at its top waits for ever. */
  async whenReady(): Promise<void> {
    await this.#options.whenLoaded;
    this.#isReady = true;
  }

  enableSandbox(): void {
    if (this.#isReady) throw new Error('app.enableSandbox() can only be called before app is ready');
    this.isSandboxed = true;
  }

  setAppUserModelId(): void {}

  setAsDefaultProtocolClient(scheme: string): boolean {
    this.protocolClients.push(scheme);
    return true;
  }

  getPath(name: string): string {
    if (name === 'userData') return this.#options.userData;
    if (name === 'home') return this.#options.home ?? this.#options.userData;
    throw new Error(`Failed to get '${name}' path`);
  }

  setBadgeCount(count: number): boolean {
    this.badge = count;
    return true;
  }

  getLoginItemSettings(): { readonly openAtLogin: boolean } {
    return this.loginItem;
  }

  setLoginItemSettings(settings: { openAtLogin: boolean }): void {
    this.loginItem = settings;
  }

  /** `before-quit`, the windows one by one, `will-quit`, `quit`; a listener that prevents one ends it there. */
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

function createApp(options: FakeOptions, windows: FakeWindow[]): FakeApp {
  return new FakeApp(options, windows);
}

function createIpc() {
  const handlers = new Map<string, Handler>();
  const listeners = new EventEmitter();
  const from = (sender: FakeWebContents, frame: FakeFrame | null = sender.mainFrame) => ({
    sender,
    senderFrame: frame,
  });
  return {
    part: {
      handle(channel: string, handler: Handler) {
        if (handlers.has(channel)) throw new Error(`Attempted to register a second handler for '${channel}'`);
        handlers.set(channel, handler);
      },
      on: (channel: string, listener: Handler) => void listeners.on(channel, listener),
    },
    invoke: async (who: FakeSender, channel: string, ...given: unknown[]): Promise<unknown> => {
      const handler = handlers.get(channel);
      if (!handler) throw new Error(`No handler registered for '${channel}'`);
      return structuredClone(await handler(from(who.contents, who.frame), ...structuredClone(given)));
    },
    send: (who: FakeSender, channel: string) => void listeners.emit(channel, from(who.contents, who.frame)),
  };
}

export interface FakeSender {
  readonly contents: FakeWebContents;
  /** Its main frame where it is left out; null: the frame has gone. */
  readonly frame?: FakeFrame | null;
}

function createProtocol(app: FakeApp) {
  const schemes = new Set<string>();
  const handlers = new Map<string, (request: Request) => Promise<Response>>();
  return {
    part: {
      registerSchemesAsPrivileged(given: readonly { readonly scheme: string }[]) {
        if (app.isReady())
          throw new Error('protocol.registerSchemesAsPrivileged should be called before app is ready');
        for (const { scheme } of given) schemes.add(scheme);
      },
      handle(scheme: string, handler: (request: Request) => Promise<Response>) {
        if (!app.isReady()) throw new Error('protocol can only be used after the app is ready');
        if (handlers.has(scheme)) throw new Error(`Failed to register protocol: ${scheme}`);
        handlers.set(scheme, handler);
      },
    },
    /** @param url As it is: with whatever `..` Chromium would have taken out. */
    async fetch(url: string, method = 'GET'): Promise<Response> {
      const scheme = url.slice(0, url.indexOf(':'));
      const handler = handlers.get(scheme);
      if (!handler || !schemes.has(scheme)) throw new TypeError('Failed to fetch');
      return handler({ url, method } as Request);
    },
  };
}

function createSession() {
  type Request = (contents: null, permission: string, callback: (isGranted: boolean) => void) => void;
  type Guard = (
    details: { readonly url: string },
    callback: (answer: { readonly cancel?: boolean }) => void,
  ) => void;
  const emitter = new EventEmitter();
  let onRequest: Request | null = null;
  let onCheck: (() => boolean) | null = null;
  let onDevice: (() => boolean) | null = null;
  let guard: Guard | undefined;
  return {
    part: {
      on: (name: string, listener: () => void) => void emitter.on(name, listener),
      setPermissionRequestHandler: (handler: Request) => {
        onRequest = handler;
      },
      setPermissionCheckHandler: (handler: () => boolean) => {
        onCheck = handler;
      },
      setDevicePermissionHandler: (handler: () => boolean) => {
        onDevice = handler;
      },
      webRequest: {
        onBeforeRequest: (next: Guard) => {
          guard = next;
        },
      },
    },
    page: {
      asksFor: (permission: string): boolean => {
        let isGranted = true;
        onRequest?.(null, permission, (answer) => {
          isGranted = answer;
        });
        return isGranted;
      },
      isAllowed: (): boolean => onCheck?.() ?? true,
      mayUseDevice: (): boolean => onDevice?.() ?? false,
      downloads: (): boolean => {
        const event = preventable();
        emitter.emit('will-download', event);
        return !event.defaultPrevented;
      },
      requests: (url: string): boolean => {
        let isCancelled = false;
        guard?.({ url }, ({ cancel }) => {
          isCancelled = cancel === true;
        });
        return !isCancelled;
      },
    },
  };
}

function createDialog() {
  type Box = { readonly message: string; readonly detail?: string; readonly buttons: readonly string[] };
  const asked: Box[] = [];
  const answers: number[] = [];
  const chosen: (readonly string[])[] = [];
  const optionsOf = (given: readonly unknown[]) => given.at(-1);
  return {
    asked,
    answers: (...responses: number[]) => void answers.push(...responses),
    chooses: (...paths: string[]) => void chosen.push(paths),
    part: {
      showMessageBox: async (...given: unknown[]) => {
        asked.push(optionsOf(given) as Box);
        return { response: answers.shift() ?? 0, checkboxChecked: false };
      },
      showOpenDialog: async () => {
        const filePaths = chosen.shift() ?? [];
        return { canceled: filePaths.length === 0, filePaths };
      },
    },
  };
}

class FakeTray extends EventEmitter {
  readonly icon: string;
  toolTip = '';
  menu: readonly FakeMenuItem[] = [];
  isDestroyed = false;

  constructor(icon: string) {
    super();
    this.icon = icon;
  }

  setToolTip(text: string): void {
    this.toolTip = text;
  }

  setContextMenu(menu: readonly FakeMenuItem[]): void {
    this.menu = menu;
  }

  destroy(): void {
    this.isDestroyed = true;
  }
}

function createNotifications() {
  const shown: (EventEmitter & { readonly title: string; readonly body: string })[] = [];
  class FakeNotification extends EventEmitter {
    static isSupported = () => true;
    readonly title: string;
    readonly body: string;

    constructor({ title, body }: { readonly title: string; readonly body: string }) {
      super();
      this.title = title;
      this.body = body;
    }

    show(): void {
      shown.push(this);
    }
  }
  return { part: FakeNotification, shown };
}

/** Sealed text is not the text, and what another key sealed does not open. */
function createSafeStorage({ storageBackend = 'gnome_libsecret' }: FakeOptions, app: FakeApp) {
  let isPlainAllowed = false;
  const isAvailable = () =>
    app.isReady() &&
    (storageBackend === 'gnome_libsecret' || (storageBackend === 'basic_text' && isPlainAllowed));
  const flip = (bytes: Buffer) => Buffer.from(bytes.map((byte) => byte ^ 0x5a));
  return {
    setUsePlainTextEncryption: (isAllowed: boolean) => {
      isPlainAllowed = isAllowed;
    },
    getSelectedStorageBackend: () =>
      !app.isReady() ? 'unknown' : storageBackend === 'none' ? 'unknown' : storageBackend,
    isAsyncEncryptionAvailable: async () => isAvailable(),
    encryptStringAsync: async (text: string) => {
      if (!isAvailable()) throw new Error('Error while encrypting the text provided to safeStorage.');
      return Buffer.concat([Buffer.from('v11'), flip(Buffer.from(text))]);
    },
    decryptStringAsync: async (sealed: Buffer) => {
      if (!isAvailable() || sealed.subarray(0, 3).toString() !== 'v11')
        throw new Error('Error while decrypting the ciphertext provided to safeStorage.');
      return { result: flip(sealed.subarray(3)).toString(), shouldReEncrypt: false };
    },
  };
}
