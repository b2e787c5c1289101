/** The fake Electron's system services: menus, tray, dialogs, notifications, and its key store. */
import { EventEmitter } from 'node:events';
import type {
  MenuItem,
  MenuItemConstructorOptions,
  MessageBoxOptions,
  NotificationConstructorOptions,
} from 'electron';
import type { FakeApp, FakeOptions } from './electron-app.fixture.ts';

export interface FakeMenuItem {
  readonly id?: string;
  readonly label?: string;
  readonly role?: NonNullable<MenuItem['role']>;
  readonly accelerator?: string;
  checked?: boolean;
  readonly click?: (item: FakeMenuItem) => void;
  readonly submenu?: readonly FakeMenuItem[];
}

/** `path` is for tests. */
export interface FakeImage {
  readonly path: string;
  isTemplate: boolean;
  setTemplateImage(isTemplate: boolean): void;
}

export type MenuTemplate = readonly (MenuItem | MenuItemConstructorOptions)[];

export class FakeMenu {
  readonly template: readonly FakeMenuItem[];

  constructor(template: readonly FakeMenuItem[]) {
    this.template = template;
  }

  getMenuItemById(id: string): Omit<FakeMenuItem, 'submenu'> | null {
    return findItem(this.template, id) ?? null;
  }
}

/** Only for results of `buildFromTemplate`; anything else is not a menu. */
export function itemsOf(menu: object | null): readonly FakeMenuItem[] {
  if (menu === null) return [];
  if (!(menu instanceof FakeMenu)) throw new TypeError('Invalid menu');
  return menu.template;
}

export function findItem(items: readonly FakeMenuItem[], id: string): FakeMenuItem | undefined {
  for (const item of items) {
    const found = item.id === id ? item : findItem(item.submenu ?? [], id);
    if (found) return found;
  }
  return undefined;
}

export class FakeTray extends EventEmitter {
  readonly icon: FakeImage;
  toolTip = '';
  menu: readonly FakeMenuItem[] = [];
  #isDestroyed = false;

  constructor(icon: FakeImage) {
    super();
    this.icon = icon;
  }

  setToolTip(text: string): void {
    this.toolTip = text;
  }

  setContextMenu(menu: object | null): void {
    this.menu = itemsOf(menu);
  }

  destroy(): void {
    this.#isDestroyed = true;
  }

  isDestroyed(): boolean {
    return this.#isDestroyed;
  }
}

export function createDialog() {
  type Box = Pick<MessageBoxOptions, 'message' | 'detail' | 'buttons' | 'defaultId' | 'cancelId'>;
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

export function createImage(path: string): FakeImage {
  return {
    path,
    isTemplate: false,
    setTemplateImage(isTemplate) {
      this.isTemplate = isTemplate;
    },
  };
}

export function createNotifications() {
  const shown: (EventEmitter & { readonly title: string; readonly body: string })[] = [];
  class FakeNotification extends EventEmitter {
    static isSupported = () => true;
    readonly title: string;
    readonly body: string;

    constructor({ title = '', body = '' }: NotificationConstructorOptions = {}) {
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

/** Sealed text differs from the text, and text sealed with another key does not open. */
export function createSafeStorage({ storageBackend = 'gnome_libsecret' }: FakeOptions, app: FakeApp) {
  const isAvailable = () => app.isReady() && storageBackend === 'gnome_libsecret';
  const flip = (bytes: Buffer) => Buffer.from(bytes.map((byte) => byte ^ 0x5a));
  return {
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
