/** The cells of a table that a look at a file shows. */
import type { Page } from 'playwright';

/** @returns The texts of each row of the table in the region of this name, without its head. */
export function cellsOf(page: Page, region: string): Promise<readonly (readonly string[])[]> {
  const rows = page.getByRole('region', { name: region }).locator('tbody tr');
  return rows.evaluateAll((all) =>
    all.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent ?? '')),
  );
}
