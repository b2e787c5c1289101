/** axe on a page: what people with a screen reader, a keyboard or weak sight would stumble over. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright';

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

let source: string | undefined;

/** The same in the light and in the dark, for a page whose theme is the system's. It stays in the light. */
export async function findViolationsInBothThemes(page: Page): Promise<readonly string[]> {
  const found: string[] = [];
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.locator(`html[data-theme=${colorScheme}]`).waitFor();
    found.push(...(await findViolations(page)).map((line) => `${colorScheme}: ${line}`));
  }
  return found;
}

/** One line for each violation and element; none is what a screen should have. Evaluated beside the page, so that its policy stays. */
export async function findViolations(page: Page): Promise<readonly string[]> {
  source ??= readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  await page.evaluate(source);
  const { violations } = await page.evaluate(async (values) => {
    const { axe } = globalThis as unknown as { axe: { run: (options: object) => Promise<AxeResults> } };
    return axe.run({ runOnly: { type: 'tag', values } });
  }, RULES);
  return violations.flatMap(({ help, id, nodes }) =>
    nodes.map(({ html, target }) => `${id}: ${help}: ${target.join(' ')} ${html.slice(0, 120)}`),
  );
}
