/** Electron as a value, so that code that uses it can be tested with a faithful fake. */
export type Electron = typeof import('electron');

/** The parts of Electron that the app uses. Each module names its own. */
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
  | 'utilityProcess'
>;
