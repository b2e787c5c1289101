/** Electron as a value, so that what is done with it can be tested with a faithful fake. */
export type Electron = typeof import('electron');

/** What the whole app needs of Electron; each part names what it takes of it. */
export type ElectronParts = Pick<
  Electron,
  | 'app'
  | 'BrowserWindow'
  | 'dialog'
  | 'ipcMain'
  | 'Menu'
  | 'MessageChannelMain'
  | 'nativeImage'
  | 'Notification'
  | 'protocol'
  | 'safeStorage'
  | 'screen'
  | 'session'
  | 'shell'
  | 'Tray'
>;
