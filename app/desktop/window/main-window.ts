/** The one window: created on demand, and kept while it is open. */
import type { BrowserWindow } from 'electron';
import { SHOW_CHANNEL } from '../channels.ts';
import type { Electron } from '../electron-parts.ts';
import { isOwnUrl, OWN_PAGE } from '../own-origin.ts';
import { keepWindowState, readWindowState, SMALLEST } from './window-state.ts';

export interface MainWindowOptions {
  readonly preloadPath: string;
  readonly statePath: string;
  readonly iconPath: string;
  readonly isDevelopment: boolean;
  readonly onClosed: () => void;
}

export interface MainWindow {
  /** Undefined while there is none. */
  readonly current: () => BrowserWindow | undefined;
  /** Creates the window if there is none, and brings it to the front. @param hash A place in the window. */
  readonly show: (hash?: string) => void;
}

/** A place in the window and nothing else: `#/changes?direction=push`. */
const PLACE = /^#\/[a-z]*(?:\?[^#]*)?$/;

export function createMainWindow(
  electron: Pick<Electron, 'BrowserWindow' | 'screen' | 'dialog' | 'app'>,
  options: MainWindowOptions,
): MainWindow {
  let window: BrowserWindow | undefined;

  const make = (hash: string): BrowserWindow => {
    const made = openWindow(electron, options);
    made.once('closed', () => {
      if (window === made) window = undefined;
      options.onClosed();
    });
    void made.loadURL(`${OWN_PAGE}${hash}`).catch(() => {});
    return made;
  };

  return {
    current: () => window,
    show(hash = '') {
      if (hash !== '' && !PLACE.test(hash)) return;
      if (!window) {
        window = make(hash);
        return;
      }
      if (hash !== '') place(window, hash);
      if (window.isMinimized()) window.restore();
      window.show();
      window.focus();
    },
  };
}

/** A page that is still loading gets no message; it takes the place from its address. */
function place(window: BrowserWindow, hash: string): void {
  const { webContents } = window;
  if (webContents.isLoading() || !isOwnUrl(webContents.getURL()))
    void webContents.loadURL(`${OWN_PAGE}${hash}`).catch(() => {});
  else webContents.send(SHOW_CHANNEL, hash);
}

function openWindow(
  electron: Pick<Electron, 'BrowserWindow' | 'screen' | 'dialog' | 'app'>,
  { preloadPath, statePath, iconPath, isDevelopment }: MainWindowOptions,
): BrowserWindow {
  const { isMaximized, ...bounds } = readWindowState(statePath, electron);
  const window = new electron.BrowserWindow({
    ...bounds,
    minWidth: SMALLEST.width,
    minHeight: SMALLEST.height,
    title: 'Dray',
    icon: iconPath,
    // Shown after its first paint: no white flash before a dark page.
    show: false,
    webPreferences: {
      preload: preloadPath,
      contextIsolation: true,
      sandbox: true,
      nodeIntegration: false,
      nodeIntegrationInSubFrames: false,
      nodeIntegrationInWorker: false,
      webSecurity: true,
      allowRunningInsecureContent: false,
      webviewTag: false,
      navigateOnDragDrop: false,
      spellcheck: false,
      devTools: isDevelopment,
    },
  });
  keepWindowState(statePath, window);
  window.once('ready-to-show', () => {
    if (isMaximized) window.maximize();
    window.show();
  });
  offerReloads(electron, window);
  return window;
}

/** Reloads a crashed page only when the user agrees, because it could crash for ever. */
function offerReloads({ dialog, app }: Pick<Electron, 'dialog' | 'app'>, window: BrowserWindow): void {
  window.webContents.on('render-process-gone', (_event, { reason }) => {
    if (reason === 'clean-exit' || window.isDestroyed()) return;
    const asked = dialog.showMessageBox(window, {
      type: 'error',
      message: 'The window stopped working.',
      detail: `Transfers continue, because the engine runs apart from the window. (${reason})`,
      buttons: ['Load Again', 'Quit'],
      defaultId: 0,
      cancelId: 0,
      noLink: true,
    });
    void asked.then(({ response }) => {
      if (response === 1) app.quit();
      else if (!window.isDestroyed()) window.webContents.reload();
    });
  });
}
