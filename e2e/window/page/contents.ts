/** The entries of a commit in History. */
import type { Locator, Page } from 'playwright';

/** @param subject The first line of the commit's message. */
export async function openContents(page: Page, subject: string): Promise<Locator> {
  const commits = page.getByRole('grid', { name: 'Commits' });
  await commits.getByRole('row', { name: subject, exact: true }).click();
  await page.getByRole('tab', { name: 'Contents' }).click();
  const contents = page.getByRole('grid', { name: 'Contents', exact: true });
  await contents.locator('[data-entry]').first().waitFor();
  return contents;
}

export function contentsRow(grid: Locator, name: string): Locator {
  return grid.getByRole('row').filter({ has: grid.page().getByText(name, { exact: true }) });
}
