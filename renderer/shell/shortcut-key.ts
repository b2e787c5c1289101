/** The key that shortcuts are made with, as this system names it. */
export const SHORTCUT_KEY = /Mac|iPhone|iPad/.test(navigator.platform) ? '\u2318' : 'Ctrl';
