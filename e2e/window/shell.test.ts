/**
 * The frame around the screens: the rail, the commands, the keyboard, small and large windows. A survey's
 * dataset fills every screen.
 */
import type { Page } from 'playwright';
import { beforeAll, describe, expect, it } from 'vitest';
import { longIt } from '../../engine/base/long-it.fixture.ts';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { findChromium } from './find-chromium.ts';
import { findViolationsInBothThemes } from './page/find-violations.ts';
import { addressOf, SCREENS, startSurveyWindow } from './page/survey-screens.ts';

/** Long enough for a busy machine. */
const WAIT = { timeout: 120_000, interval: 50 };
/** Screens whose commands are typed faster than the page follows. */
const TYPED = runBudget<readonly string[]>({ short: SCREENS.slice(1, 4), long: SCREENS.slice(1) });

describe.skipIf(!findChromium())('The window around its screens', () => {
  const window = startSurveyWindow();
  let page: Page;
  beforeAll(() => {
    page = window.page;
  });

  const showScreen = async (name: string) => {
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(`${window.origin}${addressOf(name)}`);
    await page.getByRole('heading', { level: 1, name }).waitFor();
    await expect
      .poll(() => page.getByRole('progressbar', { name: /Opening|Looking|Reading/ }).count(), WAIT)
      .toBe(0);
  };
  /** Opens the screen from the start, as after a reload. */
  const openScreen = async (name: string) => {
    await page.goto('about:blank');
    await showScreen(name);
  };
  const focused = () => page.evaluate(() => document.activeElement?.id ?? '');

  longIt('has no accessibility violation by axe on any screen in either theme', async () => {
    for (const name of SCREENS) {
      await openScreen(name);
      expect(await findViolationsInBothThemes(page), name).toEqual([]);
    }
  });

  longIt('keeps its rail and its screens usable in small and large windows', async () => {
    const sizes = [
      // A window of 1280 at a zoom of 200 %.
      { width: 640, height: 400 },
      { width: 800, height: 600 },
      { width: 1280, height: 800 },
      { width: 2560, height: 1440 },
    ];
    for (const name of SCREENS) {
      await showScreen(name);
      for (const size of sizes) {
        await page.setViewportSize(size);
        const { height, width } = await page.evaluate(() => {
          const { scrollHeight, scrollWidth } = document.documentElement;
          return { height: scrollHeight, width: scrollWidth };
        });
        expect.soft({ height, width }, name).toEqual(size);
        // A table updates its layout some frames after a resize.
        await expect
          .poll(() => listSidewaysScrolls(page), { ...WAIT, message: `${name}, ${size.width} wide` })
          .toEqual([]);
        const links = page.getByRole('navigation', { name: 'Screens' }).locator('a > .rail-word');
        expect(await links.evaluateAll((all) => all.map((link) => link.textContent))).toEqual([
          'Home',
          'Changes',
          'Plan',
          'History',
          'Transfers',
          'Jobs',
          'Fleets',
          'Browse',
          'Repositories',
          'Remotes',
          'Settings',
        ]);
      }
      await page.setViewportSize(sizes[0]!);
      expect.soft(await findViolationsInBothThemes(page), name).toEqual([]);
    }
  });

  it('reaches every screen by its commands, with the focus on the screen', {}, async () => {
    await openScreen('Home');
    for (const name of [...SCREENS.slice(1), 'Home']) {
      await page.keyboard.press('Control+k');
      await page.getByRole('menu', { name: 'Commands' }).waitFor();
      await page.keyboard.type(name.slice(0, 5));
      // The list follows the typed text one frame later.
      await page.getByRole('menuitem', { name }).and(page.locator('[data-focused]')).waitFor();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name }).waitFor();
      await expect.poll(focused, WAIT).toBe('screen');
    }
  });

  longIt('runs the typed command, however fast the keys follow each other', async () => {
    await openScreen('Home');
    for (const name of [...TYPED, 'Home']) {
      await pressAtOnce(page, ['Control+k', ...name.slice(0, 5), 'Enter']);
      await page.getByRole('heading', { level: 1, name }).waitFor();
      await expect.poll(focused, WAIT).toBe('screen');
    }
    // The second opening may come while the first one still closes.
    for (const name of ['Browse', 'Remotes', 'Home']) {
      const twice = ['Settings', name].flatMap((one) => ['Control+k', ...one.slice(0, 5), 'Enter']);
      await pressAtOnce(page, twice);
      await page.getByRole('heading', { level: 1, name }).waitFor();
      await expect.poll(focused, WAIT).toBe('screen');
    }
  });

  it('labels its commands, and says when no command matches', async () => {
    await openScreen('Home');
    await page.keyboard.press('Control+k');
    const menu = page.getByRole('menu', { name: 'Commands' });
    await menu.waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await page.keyboard.type('no such thing');
    await page.getByText('No command matches.').waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await menu.waitFor({ state: 'detached' });
  });

  longIt('runs commands that need no screen', async () => {
    await openScreen('Home');
    const run = async (name: string) => {
      await page.getByRole('button', { name: /^Commands/ }).click();
      await page.getByRole('menuitem', { name }).click();
    };
    await run('Dark theme');
    await expect.poll(() => page.evaluate(() => document.documentElement.dataset.theme), WAIT).toBe('dark');
    // The later tests follow the browser's theme.
    await run('System theme');
    await expect.poll(() => page.evaluate(() => document.documentElement.dataset.theme), WAIT).toBe('light');
    await run('Use workspace noor');
    await page.getByRole('button', { name: /^Workspace noor/ }).waitFor();
    await run('Add a remote');
    await page.getByRole('dialog', { name: /Add/ }).waitFor();
    await page.keyboard.press('Escape');
    await run('Add a workspace');
    await page.getByRole('heading', { level: 1, name: 'Add a workspace' }).waitFor();
  });

  it('lets the keyboard skip its rail, and shows the focus', async () => {
    await openScreen('Home');
    await page.keyboard.press('Tab');
    const skip = page.getByRole('button', { name: 'Skip to the screen' });
    await expect.poll(() => skip.evaluate((button) => button === document.activeElement), WAIT).toBe(true);
    expect(await skip.evaluate((button) => button.getBoundingClientRect().top)).toBeGreaterThanOrEqual(0);
    await page.keyboard.press('Enter');
    await expect.poll(focused, WAIT).toBe('screen');
    // Every focus stop of the rail has a visible outline.
    await openScreen('Home');
    for (let stop = 0; stop < 11; stop += 1) {
      await page.keyboard.press('Tab');
      const outline = await page.evaluate(() => getComputedStyle(document.activeElement!).outlineStyle);
      const isSkip = await skip.evaluate((button) => button === document.activeElement);
      if (!isSkip) expect(outline).toBe('solid');
    }
  });

  longIt('lists the workspaces, says which one is in use, and has no accessibility violation', async () => {
    await openScreen('Home');
    const switcher = page.getByRole('button', { name: /^Workspace/ });
    const inUse = page.getByRole('menuitemradio', { checked: true });
    await switcher.click();
    await inUse.waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    const other = page.getByRole('menuitemradio', { checked: false }).first();
    const name = await other.locator('.menu-item-label').innerText();
    await other.click();
    await page.getByRole('button', { name: `Workspace ${name}` }).waitFor();
    await switcher.click();
    await inUse.filter({ hasText: name }).waitFor();
    expect(await inUse.count()).toBe(1);
    await page.keyboard.press('Escape');
  });

  it('keeps working when a screen breaks, and opens that screen again later', async () => {
    await page.goto('about:blank');
    await page.route(/\/assets\/history-.*\.js/, (route) => route.abort());
    await page.goto(`${window.origin}/#/history`);
    await page.getByRole('heading', { level: 1, name: 'This screen crashed' }).waitFor();
    expect(await findViolationsInBothThemes(page)).toEqual([]);
    await page.unroute(/\/assets\/history-.*\.js/);
    await page.getByRole('link', { name: 'Home' }).click();
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  });
});

const KEYS: Readonly<Record<string, Readonly<Record<string, string | number>>>> = {
  'Control+k': { key: 'k', code: 'KeyK', windowsVirtualKeyCode: 75, modifiers: 2 },
  Enter: { key: 'Enter', code: 'Enter', windowsVirtualKeyCode: 13, text: '\r' },
};

/** Sends all keys before the page handles the first, as when a fast typist meets a busy page. */
async function pressAtOnce(page: Page, keys: readonly string[]): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await Promise.all(
    keys.flatMap((key) => {
      const pressed = KEYS[key] ?? { key, text: key };
      const { text: _, ...released } = pressed;
      return [
        session.send('Input.dispatchKeyEvent', { type: 'keyDown', ...pressed }),
        session.send('Input.dispatchKeyEvent', { type: 'keyUp', ...released }),
      ];
    }),
  );
  await session.detach();
}

/** Lists elements wider than their box: they scroll sideways, or are cut off without an ellipsis. */
function listSidewaysScrolls(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const isTooWide = (element: Element): boolean => {
      // Elements for screen readers only are a few pixels wide.
      if (element.clientWidth <= 16 || element.scrollWidth <= element.clientWidth) return false;
      const { overflowX, textOverflow } = getComputedStyle(element);
      return overflowX !== 'visible' && textOverflow !== 'ellipsis';
    };
    return [...document.querySelectorAll('*')].filter(isTooWide).map((element) => element.className);
  });
}
