/** The window's craft: how dense its rows are, and how little moves. */
import type { Page } from 'playwright';
import { beforeAll, describe, expect, it } from 'vitest';
import { findChromium } from './find-chromium.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';
import { addressOf, SCREENS, startSurveyWindow } from './page/survey-screens.ts';

const WAIT = { timeout: 120_000, interval: 50 };
/** No movement of the window takes as long as this. */
const MOTION_MAX_MS = 150;
/** Turn as long as something is under way, and move nothing that a person waits for. */
const BUSY_SIGNS = ['turn', 'wander'];

describe.skipIf(!findChromium())('The craft of the window', () => {
  const window = startSurveyWindow();
  let page: Page;
  beforeAll(() => {
    page = window.page;
  });

  const show = async (name: string) => {
    await page.goto('about:blank');
    await page.goto(`${window.origin}${addressOf(name)}`);
    await page.getByRole('heading', { level: 1, name }).waitFor();
  };

  it('makes the rows of every list and table lower where a person chooses so, and keeps the choice', async () => {
    const heights = async () => {
      const found: Record<string, number> = {};
      await show('Changes');
      found.changes = await heightOf(page, '.change-row');
      await show('History');
      found.commits = await heightOf(page, '.commit-item');
      await show('Browse');
      found.entries = await heightOf(page, '[role="row"]:has([role="gridcell"])');
      return found;
    };
    const comfortable = await heights();
    await show('Settings');
    await page.getByRole('radio', { name: 'Compact' }).press('Space');
    await expect.poll(() => densityOf(page), WAIT).toBe('compact');
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    // Another browser's first look, without what this page remembers.
    await page.evaluate(() => localStorage.clear());
    const compact = await heights();
    for (const [name, height] of Object.entries(comfortable))
      expect(compact[name], name).toBeLessThan(height - 5);
    // The rows on screen follow at once.
    await show('Changes');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('Comfortable');
    await page
      .getByRole('menuitem', { name: 'Comfortable rows' })
      .and(page.locator('[data-focused]'))
      .waitFor();
    await page.keyboard.press('Enter');
    await expect.poll(() => heightOf(page, '.change-row'), WAIT).toBe(comfortable.changes);
    await expect.poll(() => gapOf(page), WAIT).toBe(comfortable.changes);
  });

  it('moves nothing for longer than 150 ms, and nothing at all where the system asks for that', async () => {
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    for (const name of SCREENS) {
      await show(name);
      expect(await slowMotionsOf(page, MOTION_MAX_MS), name).toEqual([]);
    }
    expect(await declaredMotionsOf(page)).not.toEqual([]);
    expect((await declaredMotionsOf(page)).filter(({ ms }) => ms >= MOTION_MAX_MS)).toEqual([]);
    await page.keyboard.press('Control+k');
    await page.getByRole('menu', { name: 'Commands' }).waitFor();
    expect(await slowMotionsOf(page, MOTION_MAX_MS)).toEqual([]);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    expect(await slowMotionsOf(page, 0)).toEqual([]);
    for (const name of SCREENS) {
      await show(name);
      expect(await slowMotionsOf(page, 0), name).toEqual([]);
    }
  });
});

function densityOf(page: Page): Promise<string | undefined> {
  return page.evaluate(() => document.documentElement.dataset.density);
}

async function heightOf(page: Page, selector: string): Promise<number> {
  const row = page.locator(selector).first();
  await row.waitFor();
  return (await row.boundingBox())!.height;
}

/** The distance between two rows that the page places itself. */
async function gapOf(page: Page): Promise<number> {
  const tops = await page
    .locator('.change-row')
    .evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().top).sort((a, b) => a - b));
  return tops[1]! - tops[0]!;
}

interface Motion {
  readonly what: string;
  readonly ms: number;
}

/** The elements and pseudo-elements of the page that move for at least `ms`, or for any time at all. */
function slowMotionsOf(page: Page, ms: number): Promise<readonly Motion[]> {
  return page.evaluate(
    ({ busy, least }) => {
      const slow: { what: string; ms: number }[] = [];
      const longest = (durations: string) =>
        Math.max(
          ...durations.split(',').map((text) => Number.parseFloat(text) * (/ms/.test(text) ? 1 : 1000)),
        );
      for (const element of document.querySelectorAll('*'))
        for (const part of [undefined, '::before', '::after']) {
          const style = getComputedStyle(element, part);
          const isBusy = least > 0 && busy.includes(style.animationName);
          const ms = Math.max(
            longest(style.transitionDuration),
            longest(style.transitionDelay),
            isBusy ? 0 : longest(style.animationDuration),
          );
          if (least > 0 ? ms >= least : ms > 0)
            slow.push({ what: `${element.tagName}.${element.className}${part ?? ''}`, ms });
        }
      return slow;
    },
    { busy: BUSY_SIGNS, least: ms },
  );
}

/** Every duration in the loaded styles, resolved: also of what is not on screen. */
function declaredMotionsOf(page: Page): Promise<readonly Motion[]> {
  return page.evaluate((busy) => {
    const found: { what: string; ms: number }[] = [];
    const probe = document.body.appendChild(document.createElement('div'));
    const walk = (rules: CSSRuleList) => {
      for (const rule of rules) {
        if ('cssRules' in rule) walk((rule as CSSGroupingRule).cssRules);
        if (!(rule instanceof CSSStyleRule)) continue;
        for (const property of ['transition', 'animation']) {
          const text = rule.style.getPropertyValue(property);
          if (text === '' || busy.some((name) => text.includes(name))) continue;
          probe.style.setProperty(property, text);
          const durations = getComputedStyle(probe).getPropertyValue(`${property}-duration`);
          probe.removeAttribute('style');
          for (const duration of durations.split(','))
            found.push({ what: rule.selectorText, ms: Number.parseFloat(duration) * 1000 });
        }
      }
    };
    for (const sheet of document.styleSheets) walk(sheet.cssRules);
    probe.remove();
    return found;
  }, BUSY_SIGNS);
}
