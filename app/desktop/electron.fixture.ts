/**
 * A fake of the `electron` module for tests of the main process. It behaves as Electron's documentation says
 * for the parts that Dray uses, including refusals and the order of events. A test triggers actions of the
 * user, the page or the system through `person`. By default permissions are granted, windows open and pages
 * navigate, as in Electron, so that a test notices a missing guard.
 */
import type { BrowserWindowConstructorOptions } from 'electron';
import { FakeApp, type FakeOptions } from './electron-app.fixture.ts';
import { createIpc, createProtocol, createSession } from './electron-page.fixture.ts';
import type { ElectronParts } from './electron-parts.ts';
import {
  createDialog,
  createImage,
  createNotifications,
  createSafeStorage,
  type FakeImage,
  FakeMenu,
  type FakeMenuItem,
  FakeTray,
  findItem,
  itemsOf,
  type MenuTemplate,
} from './electron-system.fixture.ts';
import { createUtilities } from './electron-utility.fixture.ts';
import { FakeMessageChannel, FakeWindow, preventable } from './electron-window.fixture.ts';
import type { FakeOf } from './fake-of.fixture.ts';

export function createFakeElectron(options: FakeOptions) {
  const windows: FakeWindow[] = [];
  const app = new FakeApp(options, windows);
  const ipc = createIpc();
  const protocol = createProtocol(app);
  const session = createSession();
  const dialog = createDialog();
  const notifications = createNotifications();
  const utilities = createUtilities(app);
  const trays: FakeTray[] = [];
  const opened: string[] = [];
  const revealed: string[] = [];
  let applicationMenu: readonly FakeMenuItem[] = [];

  class BrowserWindow extends FakeWindow {
    constructor(given: BrowserWindowConstructorOptions = {}) {
      if (!app.isReady()) throw new Error('Cannot create BrowserWindow before app is ready');
      super(given);
      windows.push(this);
      app.emit('web-contents-created', preventable(), this.webContents);
      this.once('closed', () => {
        windows.splice(windows.indexOf(this), 1);
        // Runs after the window's own listeners. Without a listener Electron quits.
        queueMicrotask(() => {
          if (windows.length > 0 || app.isQuitting()) return;
          if (!app.emit('window-all-closed')) app.quit();
        });
      });
    }
  }

  class Tray extends FakeTray {
    constructor(icon: string | object) {
      super(typeof icon === 'string' ? createImage(icon) : (icon as FakeImage));
      trays.push(this);
    }
  }

  const parts = {
    app,
    BrowserWindow,
    dialog: dialog.part,
    ipcMain: ipc.part,
    Menu: {
      buildFromTemplate: (template: MenuTemplate) =>
        new FakeMenu(template as unknown as readonly FakeMenuItem[]),
      setApplicationMenu: (menu: object | null) => {
        applicationMenu = itemsOf(menu);
      },
    },
    MessageChannelMain: FakeMessageChannel,
    nativeImage: { createFromPath: createImage },
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
      showItemInFolder: (path: string) => void revealed.push(path),
    },
    Tray,
    utilityProcess: utilities.part,
  } satisfies FakeOf<ElectronParts>;

  return {
    electron: parts as unknown as ElectronParts,
    app,
    windows,
    trays,
    utilities: utilities.started,
    /** URLs opened in the system's browser. */
    opened,
    /** Paths shown in the system's file manager. */
    revealed,
    notifications: notifications.shown,
    dialogs: dialog.asked,
    menu: () => applicationMenu,
    person: {
      /** The answers to the next message boxes, in order; the first button if none is left. */
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
