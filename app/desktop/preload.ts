/**
 * Runs sandboxed before the page, in a world of its own. Exposes `window.dray`, which is all that the page
 * has of the desktop. Bundled to one CommonJS file, as a sandboxed preload must be.
 */
import { contextBridge, ipcRenderer, webUtils } from 'electron';
import { type DesktopBridge, PORT_MESSAGE } from '../../engine/api/window/desktop-bridge.ts';
import {
  CHOOSE_FOLDER_CHANNEL,
  DRAG_CHANNEL,
  PORT_CHANNEL,
  REVEAL_CHANNEL,
  SAVE_KEYS_CHANNEL,
  SECRETS_CHANNEL,
  SHOW_CHANNEL,
  TEST_NOTICE_CHANNEL,
} from './channels.ts';

/** The few DOM types used here: the project's main compiler options have no DOM. */
interface Page {
  readonly location: { hash: string; readonly origin: string };
  postMessage(message: unknown, targetOrigin: string, transfer: readonly unknown[]): void;
}
const page = globalThis as unknown as Page;

const bridge: DesktopBridge = {
  requestPort: () => ipcRenderer.send(PORT_CHANNEL),
  pathOf: (file) => webUtils.getPathForFile(file),
  chooseFolder: (title) => ipcRenderer.invoke(CHOOSE_FOLDER_CHANNEL, title),
  reveal: (path) => ipcRenderer.invoke(REVEAL_CHANNEL, path),
  startDrag: (id) => ipcRenderer.invoke(DRAG_CHANNEL, id),
  testNotice: (job) => ipcRenderer.invoke(TEST_NOTICE_CHANNEL, job),
  secrets: {
    state: () => ipcRenderer.invoke(SECRETS_CHANNEL),
    saveKeys: (profile, keys) => ipcRenderer.invoke(SAVE_KEYS_CHANNEL, profile, keys),
  },
};

// A port reaches the page only as a message of its own window.
ipcRenderer.on(PORT_CHANNEL, (event) => page.postMessage(PORT_MESSAGE, page.location.origin, event.ports));

// Menus, the tray and links lead to places in the window, which are hashes of its address.
ipcRenderer.on(SHOW_CHANNEL, (_event, hash: string) => {
  page.location.hash = hash;
});

contextBridge.exposeInMainWorld('dray', bridge);
