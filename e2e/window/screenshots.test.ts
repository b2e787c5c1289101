/** Tests the comparison of pictures on known pictures: which differences count and which do not. */
import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findChromium } from './find-chromium.ts';
import { launchBrowser } from './open-window.ts';
import { comparePictures } from './screenshots.ts';

const SIDE = 100;

describe.skipIf(!findChromium())('Two pictures', () => {
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    browser = await launchBrowser();
    const context = await browser.newContext({ viewport: { width: SIDE, height: SIDE } });
    page = await context.newPage();
  });
  afterAll(() => browser?.close());

  const draw = async (style: string): Promise<Buffer> => {
    await page.setContent(`<body style="margin:0"><div style="position:absolute;${style}"></div>`);
    return page.screenshot();
  };
  const square = (left: number, color: string) =>
    draw(`left:${left}px;top:0;width:20px;height:20px;background:${color}`);

  it('are equal when an object moved by one pixel or its colour by a shade', async () => {
    const one = await square(10, '#404040');
    for (const two of [one, await square(11, '#404040'), await square(10, '#505050')])
      expect(await comparePictures(page, one, two)).toEqual({ differentShare: 0 });
  });

  it('differ where an object moved, vanished or changed its colour', async () => {
    const one = await square(10, '#404040');
    const nothing = await square(10, 'transparent');
    const share = 20 ** 2 / SIDE ** 2;
    expect((await comparePictures(page, one, nothing)).differentShare).toBeCloseTo(share, 5);
    expect((await comparePictures(page, nothing, one)).differentShare).toBeCloseTo(share, 5);
    const moved = await comparePictures(page, one, await square(60, '#404040'));
    expect(moved.differentShare).toBeCloseTo(2 * share, 5);
    const red = await square(10, '#c04040');
    expect((await comparePictures(page, one, red)).differentShare).toBeCloseTo(share, 5);
  });

  it('differ by a line that only one of them has', async () => {
    const nothing = await draw('');
    const line = await draw('left:0;top:50px;width:100px;height:1px;background:#404040');
    const share = 1 / SIDE;
    expect((await comparePictures(page, nothing, line)).differentShare).toBeCloseTo(share, 5);
    expect((await comparePictures(page, line, nothing)).differentShare).toBeCloseTo(share, 5);
  });

  it('of different sizes differ completely', async () => {
    const one = await page.screenshot({ clip: { x: 0, y: 0, width: 50, height: 50 } });
    expect(await comparePictures(page, one, await page.screenshot())).toEqual({ differentShare: 1 });
  });
});
