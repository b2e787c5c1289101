/**
 * The shortcuts by which the desktop app's menu opens pages of the window. The window shows them only there:
 * a browser has its own.
 */
export const DESKTOP_SHORTCUTS = {
  '#/home': 'CmdOrCtrl+1',
  '#/changes': 'CmdOrCtrl+2',
  '#/plan': 'CmdOrCtrl+3',
  '#/transfers': 'CmdOrCtrl+4',
  '#/history': 'CmdOrCtrl+5',
  '#/browse': 'CmdOrCtrl+6',
  '#/remotes': 'CmdOrCtrl+7',
  '#/repositories': 'CmdOrCtrl+8',
  '#/settings': 'CmdOrCtrl+,',
  '#/home?add=yes': 'CmdOrCtrl+O',
  '#/changes?direction=push': 'CmdOrCtrl+Shift+U',
  '#/changes?direction=pull': 'CmdOrCtrl+Shift+D',
} as const satisfies Readonly<Record<`#/${string}`, string>>;

export type ShortcutPlace = keyof typeof DESKTOP_SHORTCUTS;
