/** The Transfers screen as a test reads it, and what it gives the screen to move. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright';
import { findViolations } from './find-violations.ts';

/** On two busy cores. */
export const WAIT = { timeout: 120_000, interval: 100 };

export function rowOf(page: Page, title: string): Locator {
  return page.locator('.transfer', { has: page.getByText(title, { exact: true }) });
}

/** The word of its badge, for `expect.poll`. */
export function stateOf(row: Locator): () => Promise<string | null> {
  return () => row.locator('.badge').textContent();
}

/** A folder with one file that no part of is like another. */
export function writeLarge(root: string, name: string, sizeBytes: number) {
  const source = join(root, name);
  mkdirSync(source, { recursive: true });
  const bytes = randomBytes(sizeBytes);
  writeFileSync(join(source, 'large.bin'), bytes);
  return { source: `${source}/`, bytes };
}

/** What axe finds on the screen as it is, by light and by dark. */
export async function findInBothThemes(page: Page): Promise<readonly string[]> {
  const found: string[] = [];
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.locator(`html[data-theme="${colorScheme}"]`).waitFor();
    found.push(...(await findViolations(page)));
  }
  return found;
}
