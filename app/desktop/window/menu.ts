/** The native menus. Each item leads to a place in the window, so the window needs no second channel. */
import type { MenuItemConstructorOptions } from 'electron';
import { DESKTOP_SHORTCUTS, type ShortcutPlace } from '../../../engine/api/window/desktop-shortcuts.ts';

export interface MenuOptions {
  readonly platform: NodeJS.Platform;
  /** Reload and the developer tools, which a packaged app does not have. */
  readonly isDevelopment: boolean;
  readonly opensAtLogin: boolean;
}

export interface MenuActions {
  /** @param hash A place in the window: `#/transfers`. */
  readonly show: (hash: string) => void;
  readonly setOpensAtLogin: (opens: boolean) => void;
}

const SCREENS = [
  'Home',
  'Changes',
  'Plan',
  'Transfers',
  'History',
  'Browse',
  'Remotes',
  'Repositories',
] as const;
type Screen = (typeof SCREENS)[number];

type Item = MenuItemConstructorOptions;

export function menuTemplate(options: MenuOptions, actions: MenuActions): Item[] {
  const isMac = options.platform === 'darwin';
  const settings = place('Settings…', '#/settings', actions);
  const login: Item = {
    id: 'opens-at-login',
    label: 'Open at Login',
    type: 'checkbox',
    checked: options.opensAtLogin,
    click: (item) => actions.setOpensAtLogin(item.checked),
  };
  const own: Item[] = isMac
    ? [
        {
          role: 'appMenu',
          submenu: [
            { role: 'about' },
            { type: 'separator' },
            settings,
            login,
            { type: 'separator' },
            { role: 'services' },
            { type: 'separator' },
            { role: 'hide' },
            { role: 'hideOthers' },
            { role: 'unhide' },
            { type: 'separator' },
            { role: 'quit' },
          ],
        },
      ]
    : [];
  return [
    ...own,
    {
      label: 'File',
      submenu: [
        place('Add Workspace…', '#/home?add=yes', actions),
        { type: 'separator' },
        place('Push…', '#/changes?direction=push', actions),
        place('Pull…', '#/changes?direction=pull', actions),
        { type: 'separator' },
        ...(isMac ? [] : [settings, login, { type: 'separator' } as const]),
        isMac ? { role: 'close' } : { role: 'quit' },
      ],
    },
    { role: 'editMenu' },
    {
      label: 'Go',
      submenu: SCREENS.map((name) => place(name, `#/${name.toLowerCase() as Lowercase<Screen>}`, actions)),
    },
    {
      label: 'View',
      submenu: [
        { role: 'resetZoom' },
        { role: 'zoomIn' },
        { role: 'zoomOut' },
        { type: 'separator' },
        { role: 'togglefullscreen' },
        ...(options.isDevelopment
          ? [{ type: 'separator' } as const, { role: 'reload' } as const, { role: 'toggleDevTools' } as const]
          : []),
      ],
    },
    { role: 'windowMenu' },
    ...(isMac ? [] : [{ role: 'help' as const, submenu: [{ role: 'about' as const }] }]),
  ];
}

function place(label: string, hash: ShortcutPlace, { show }: MenuActions): Item {
  return { id: hash, label, accelerator: DESKTOP_SHORTCUTS[hash], click: () => show(hash) };
}
