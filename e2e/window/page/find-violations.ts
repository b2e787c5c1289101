/** Runs axe on a page: it finds barriers for people with a screen reader, a keyboard or weak sight. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright';
import { runBudget } from '../../../engine/base/run-budget.fixture.ts';

const ALL = {
  type: 'tag',
  values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
} as const;
/** The rules whose answer another theme changes. */
const COLOURS = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } as const;

let source: string | undefined;

type Pass = readonly ['light' | 'dark', typeof ALL | typeof COLOURS];
const IN_LIGHT: Pass = ['light', ALL];
/** All rules in the light theme, and the colours in the dark one. */
export const BOTH_THEMES: readonly Pass[] = [['dark', COLOURS], IN_LIGHT];

/**
 * Checks all rules in the light theme, and in `npm run test:long` the colours in the dark one, on a page that
 * follows the system's theme. Leaves the light theme on. In `npm test`, the test of the pictures checks the
 * dark colours of every screen.
 */
export async function findViolationsInBothThemes(
  page: Page,
  passes: readonly Pass[] = runBudget({ short: [IN_LIGHT], long: BOTH_THEMES }),
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [colorScheme, runOnly] of passes) {
    await page.emulateMedia({ colorScheme });
    await page.locator(`html[data-theme=${colorScheme}]`).waitFor();
    found.push(...(await findViolations(page, runOnly)).map((line) => `${colorScheme}: ${line}`));
  }
  return found;
}

/**
 * Returns one line for each violation and element. Runs beside the page's own code, so that the page's policy
 * stays.
 */
export async function findViolations(
  page: Page,
  runOnly: typeof ALL | typeof COLOURS = ALL,
): Promise<readonly string[]> {
  source ??= readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(source);
  const violations = await page.evaluate(async (chosen) => {
    const { axe } = globalThis as unknown as {
      axe: { run: (within: object, options: object) => Promise<AxeResults> };
    };
    // Describing every element that passes takes as long as the checks.
    // A tooltip is outside of all landmarks by design, and is open wherever the pointer happens to rest.
    const within = { exclude: ['[data-overlay-container]:has([role=tooltip])'] };
    return (await axe.run(within, { runOnly: chosen, resultTypes: ['violations'] })).violations;
  }, runOnly);
  return violations.flatMap(({ help, id, nodes }) =>
    nodes.map(({ html, target }) => `${id}: ${help}: ${target.join(' ')} ${html.slice(0, 120)}`),
  );
}
