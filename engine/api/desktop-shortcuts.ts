/** The keys by which the desktop app's menu leads to places of the window; the window shows them. In a browser they are the browser's own. */
export const DESKTOP_SHORTCUTS = {
  '#/home': 'CmdOrCtrl+1',
  '#/changes': 'CmdOrCtrl+2',
  '#/plan': 'CmdOrCtrl+3',
  '#/transfers': 'CmdOrCtrl+4',
  '#/history': 'CmdOrCtrl+5',
  '#/browse': 'CmdOrCtrl+6',
  '#/remotes': 'CmdOrCtrl+7',
  '#/settings': 'CmdOrCtrl+,',
  '#/home?add=yes': 'CmdOrCtrl+O',
  '#/changes?direction=push': 'CmdOrCtrl+Shift+U',
  '#/changes?direction=pull': 'CmdOrCtrl+Shift+D',
} as const satisfies Readonly<Record<`#/${string}`, string>>;

export type ShortcutPlace = keyof typeof DESKTOP_SHORTCUTS;
