/** Reads the columns of a table: their edges, their widths, and what the engine keeps of them. */
import type { Locator, Page } from 'playwright';
import { expect } from 'vitest';
import { askEngine } from '../ask-engine.ts';
import { WAIT } from '../window-workspace.ts';

/** The edge of the column with this name. */
export function gripOf(table: Locator, name: string): Locator {
  return table.getByRole('separator', { name: `Width of ${name}` });
}

/** @param cells The class of the column's cells. */
export function widthOf(table: Locator, cells: string): Promise<number> {
  return table
    .locator(`.${cells}`)
    .first()
    .evaluate((cell) => Math.round(cell.getBoundingClientRect().width));
}

export async function keptIs(page: Page, columns: object): Promise<void> {
  await expect.poll(async () => (await askEngine(page, 'settings.get', {})).columns, WAIT).toEqual(columns);
}
