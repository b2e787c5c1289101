/** A name with a character that reverses what follows is shown with its escape, as at a terminal. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright';
import { afterAll, describe, expect, it } from 'vitest';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import { createSandbox } from '../../engine/jobs/session/job.fixture.ts';
import { askEngine } from './ask-engine.ts';
import { startBrowserAndStore } from './browser-and-store.ts';
import { findChromium } from './find-chromium.ts';
import { findViolations } from './page/find-violations.ts';
import { openWorkspace, WAIT } from './window-workspace.ts';

/** Browsers draw the first one as `reportexe.png`. */
const OVERRIDE = '\u202e';
const FILE = `report${OVERRIDE}gnp.exe`;
const SHOWN = 'report\\u202egnp.exe';
const FOLDER = `notes${OVERRIDE}x`;
const MARKS = 'a\u200fb';

describe.skipIf(!findChromium())('A name that reverses its end', () => {
  const started = startBrowserAndStore();
  const outside = mkdtempSync(join(tmpdir(), 'dray-unsafe-names-'));
  afterAll(() => rmSync(outside, { recursive: true, force: true }));

  it('is shown with its escape on each screen, and the content of files as it is', async () => {
    const root = join(outside, `work${OVERRIDE}krow`);
    mkdirSync(join(root, FOLDER), { recursive: true });
    writeFileSync(join(root, FOLDER, FILE), 'first');
    const run = (...args: string[]) => runCli(args, { cwd: root, environment: { DRAY_AUTHOR: 'tester' } });
    expect((await run('init', '--remote', join(outside, 'store'))).exitCode).toBe(0);
    expect((await run('push', '-m', `a ${OVERRIDE}message`)).exitCode).toBe(0);
    writeFileSync(join(root, FILE), MARKS);
    await using window = await openWorkspace(started.browser, {
      root,
      screen: '#/changes',
      environment: started.server.environment,
    });
    const { page } = window;
    const row = page.getByRole('row').filter({ hasText: SHOWN });
    await row.click();
    await expect.poll(() => page.getByText(MARKS).count(), WAIT).toBe(1);
    expect(await findOverrides(page)).toEqual([]);
    await row.click({ button: 'right' });
    await page.getByRole('menu').waitFor();
    expect(await findOverrides(page)).toEqual([]);
    await page.keyboard.press('Escape');

    const show = async (path: string, text: string) => {
      await page.goto(`${window.origin}/#/${path}`);
      await page.getByText(text).first().waitFor();
      expect(await findOverrides(page), path).toEqual([]);
    };
    await show('home', 'work\\u202ekrow');
    await show('history', 'a \\u202emessage');
    await page.getByRole('row').filter({ hasText: 'a \\u202emessage' }).click();
    await page.getByText(SHOWN).first().waitFor();
    expect(await findOverrides(page)).toEqual([]);
    await askEngine(page, 'transfers.start', { kind: 'push', root, message: OVERRIDE });
    await show('transfers', 'work\\u202ekrow');
    await show(`browse?place=${encodeURIComponent(root)}`, SHOWN);
    expect(window.complaints).toEqual([]);
  });
});

describe.skipIf(!findChromium())('A message, an author and a tag without a space', () => {
  const started = startBrowserAndStore();

  it('leave what stands beside and below them in reach, on a screen and on a phone', async () => {
    using sandbox = createSandbox();
    const root = sandbox.path('coast');
    mkdirSync(root);
    const environment = { DRAY_AUTHOR: `<b>eve</b> ${'a'.repeat(200)}` };
    const run = (...words: string[]) => runCli(words, { cwd: root, environment });
    await run('init', '--remote', sandbox.path('store'), '-q');
    writeFileSync(join(root, 'depths.txt'), '12');
    const pushed = await run(
      'push',
      '-m',
      `<script>alert(1)</script> ${'x'.repeat(10_000)}\n\n${'y '.repeat(5_000)}`,
      '-q',
    );
    expect(pushed).toMatchObject({ exitCode: 0 });
    expect(await run('tag', 't'.repeat(120))).toMatchObject({ exitCode: 0 });
    await using window = await openWorkspace(started.browser, { root, screen: '#/history' });
    const { origin, page } = window;
    for (const size of [
      { width: 1280, height: 800 },
      { width: 360, height: 740 },
    ]) {
      await page.setViewportSize(size);
      await page.goto(`${origin}/#/history`);
      await page.getByRole('heading', { name: '<script>alert(1)</script> xxx' }).waitFor();
      const panel = page.getByRole('region', { name: 'Commit' });
      await expectShown(page, panel.getByRole('button', { name: 'Copy the whole hash' }));
      await expectShown(page, panel.getByRole('tab', { name: 'Changes' }));
      expect(await findViolations(page)).toEqual([]);
      await page.goto(`${origin}/#/repositories`);
      const figure = page.locator('.repository .figure').filter({ hasText: '<b>eve</b> aaa' });
      await figure.waitFor();
      expect(await figure.evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0);
    }
    expect(window.complaints).toEqual([]);
  });
});

/** All of it is within the window. */
async function expectShown(page: Page, part: Locator): Promise<void> {
  const { height, width, x, y } = (await part.boundingBox())!;
  const shown = page.viewportSize()!;
  expect(Math.min(x, y)).toBeGreaterThanOrEqual(0);
  expect(x + width).toBeLessThanOrEqual(shown.width);
  expect(y + height).toBeLessThanOrEqual(shown.height);
}

/** The texts and attributes of the page with such a character. Values of fields are left out. */
function findOverrides(page: Page): Promise<readonly string[]> {
  return page.evaluate((override) => {
    const found: string[] = [];
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node; node = texts.nextNode())
      if (node.textContent?.includes(override)) found.push(node.textContent);
    for (const element of document.querySelectorAll('*'))
      for (const name of ['title', 'aria-label', 'alt', 'placeholder'])
        if (element.getAttribute(name)?.includes(override)) found.push(`${name}: ${element.outerHTML}`);
    return found;
  }, OVERRIDE);
}
