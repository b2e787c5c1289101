/**
 * Opens Dray at login, if the user chooses so. Electron does it on macOS and Windows; on Linux it is a file
 * of the XDG autostart specification.
 */
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Electron } from './electron-parts.ts';

/** Starts the app without its window. The window appears on request. */
export const HIDDEN_ARGUMENT = '--hidden';

/** @param argv The arguments of this start. macOS passes none, but reports a start by login. */
export function isOpenedAtLogin({ app }: Pick<Electron, 'app'>, argv: readonly string[]): boolean {
  return argv.includes(HIDDEN_ARGUMENT) || app.getLoginItemSettings().wasOpenedAtLogin === true;
}

export interface LoginItem {
  readonly opensAtLogin: () => boolean;
  readonly setOpensAtLogin: (opens: boolean) => void;
}

export interface LoginItemOptions {
  readonly platform: NodeJS.Platform;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The running program. */
  readonly program: string;
}

export function loginItem({ app }: Pick<Electron, 'app'>, options: LoginItemOptions): LoginItem {
  if (options.platform === 'linux') return autostartFile({ app }, options);
  // Windows stores the arguments in the entry, and needs the same ones to find it.
  const entry = options.platform === 'win32' ? { args: [HIDDEN_ARGUMENT] } : {};
  return {
    opensAtLogin: () => app.getLoginItemSettings(entry).openAtLogin,
    setOpensAtLogin: (opens) => app.setLoginItemSettings({ ...entry, openAtLogin: opens }),
  };
}

function autostartFile(
  { app }: Pick<Electron, 'app'>,
  { environment, program }: LoginItemOptions,
): LoginItem {
  const folder = environment.XDG_CONFIG_HOME || join(app.getPath('home'), '.config');
  const path = join(folder, 'autostart', 'dray.desktop');
  // An AppImage runs from a folder that disappears afterwards; APPIMAGE names its file.
  const command = environment.APPIMAGE || program;
  return {
    opensAtLogin: () => statSync(path, { throwIfNoEntry: false })?.isFile() === true,
    setOpensAtLogin(opens) {
      if (!opens) return rmSync(path, { force: true });
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, formatAutostart(command));
    },
  };
}

/**
 * Quoting of `Exec`: Desktop Entry Specification, "The Exec key": first as an argument, then as a string
 * value; `%` is a field code.
 */
function formatAutostart(command: string): string {
  const argument = `"${command.replace(/["`$\\]/g, '\\$&')}"`;
  const value = argument.replaceAll('\\', '\\\\').replaceAll('%', '%%').replaceAll('\n', '\\n');
  return `[Desktop Entry]\nType=Application\nName=Dray\nExec=${value} ${HIDDEN_ARGUMENT}\nTerminal=false\nX-GNOME-Autostart-enabled=true\n`;
}
