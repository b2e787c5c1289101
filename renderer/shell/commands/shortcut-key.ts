/** The modifier key of shortcuts, as this system names it. */
export const SHORTCUT_KEY = /Mac|iPhone|iPad/.test(navigator.platform) ? '\u2318' : 'Ctrl';
