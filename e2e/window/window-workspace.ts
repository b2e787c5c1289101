/** A window that knows a workspace, as one that was opened in it before; and the words by which tests find what a screen shows. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright';
import { type OpenWindow, type OpenWindowOptions, openWindow } from './open-window.ts';

/** Of what a loaded machine does at last: no test measures by it. */
export const WAIT = { timeout: 120_000, interval: 100 };

export interface OpenWorkspaceOptions extends Omit<OpenWindowOptions, 'path'> {
  readonly root: string;
  /** The screen's address, such as `#/changes?direction=pull`. */
  readonly screen: string;
}

export async function openWorkspace(
  browser: Browser,
  { root, screen, ...options }: OpenWorkspaceOptions,
): Promise<OpenWindow> {
  const window = await openWindow(browser, options);
  const file = join(window.folder, 'home', '.config', 'dray', 'window.json');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ workspaces: [root] }));
  await window.page.goto(`${window.origin}/${screen}`);
  await window.page.reload();
  return window;
}

/** The rows that are drawn, in order, each as one line: path, change, size. */
export async function rowsShown(page: Page): Promise<readonly string[]> {
  const rows = page.getByRole('row').filter({ has: page.getByRole('gridcell') });
  return (await rows.allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim());
}

/** @param path Of a rename, the new one. */
export function rowOf(page: Page, path: string): Locator {
  return page.getByRole('row').filter({ has: page.locator(`.change-name[title$="${path}"]`) });
}
