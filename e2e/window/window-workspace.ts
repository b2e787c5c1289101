/**
 * Opens a window that knows a workspace, as if it had been opened there before, and reads the rows of a
 * screen.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright';
import { type OpenWindow, type OpenWindowOptions, openWindow } from './open-window.ts';

/** Long enough for a loaded machine; no test measures time by it. */
export const WAIT = { timeout: 120_000, interval: 100 };

/** How the window names a time within the test. */
export const RECENTLY = /just now|\d+ minutes? ago/;

export interface OpenWorkspaceOptions extends Omit<OpenWindowOptions, 'path'> {
  readonly root: string;
  /** The screen's address, such as `#/changes?direction=pull`. */
  readonly screen: string;
}

export function openWorkspace(
  browser: Browser,
  { root, screen, ...options }: OpenWorkspaceOptions,
): Promise<OpenWindow> {
  const prepare = (home: string) => {
    const settings = join(home, '.config', 'dray');
    mkdirSync(settings, { recursive: true });
    writeFileSync(join(settings, 'window.json'), JSON.stringify({ workspaces: [root] }));
  };
  return openWindow(browser, { ...options, prepare, path: `/${screen}` });
}

/** The drawn rows in order, each as one line: path, change, size. */
export async function rowsShown(page: Page): Promise<readonly string[]> {
  const rows = page.getByRole('row').filter({ has: page.getByRole('gridcell') });
  return (await rows.allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim());
}

/** @param path For a rename, the new path. */
export function rowOf(page: Page, path: string): Locator {
  return page.getByRole('row').filter({ has: page.locator(`.change-name[title$="${path}"]`) });
}
