/** Reads the Transfers screen for tests, and writes the files that they transfer. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright';

/** Long enough for two busy cores. */
export const WAIT = { timeout: 120_000, interval: 100 };

export function rowOf(page: Page, title: string): Locator {
  return page.locator('.transfer', { has: page.getByText(title, { exact: true }) });
}

/** Returns the text of the row's badge, for `expect.poll`. */
export function stateOf(row: Locator): () => Promise<string | null> {
  return () => row.locator('.badge').textContent();
}

/** Writes a folder with one file whose parts all differ. */
export function writeLarge(root: string, name: string, sizeBytes: number) {
  const source = join(root, name);
  mkdirSync(source, { recursive: true });
  const bytes = randomBytes(sizeBytes);
  writeFileSync(join(source, 'large.bin'), bytes);
  return { source: `${source}/`, bytes };
}
