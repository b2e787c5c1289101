/**
 * Measures how soon the window shows something useful: Home with its workspace, in a browser without a cache,
 * from a `dray ui` that just started.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright';
import { startUi } from '../../e2e/window/open-window.ts';

/** The needs of the measurement. */
export interface PaintPlace {
  readonly command: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly root: string;
  /** The workspace's name, as Home shows it. */
  readonly name: string;
}

export interface PaintRun {
  /** From the click on the link to the frame that shows the workspace, in ms. */
  readonly usefulMs: number;
  /** To the first frame that shows anything. */
  readonly firstMs: number;
  readonly requests: number;
}

/** The page's clock starts with its request, before the link's redirect. */
const WATCH = `
  globalThis.usefulMs = new Promise((resolve) => {
    const look = () => {
      if (!document.querySelector('main')?.textContent.includes('NAME')) return;
      watcher.disconnect();
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
    };
    const watcher = new MutationObserver(look);
    watcher.observe(document, { childList: true, subtree: true, characterData: true });
  });`;

export async function measurePaint(browser: Browser, bench: PaintPlace): Promise<PaintRun> {
  await using ui = await startUi({ command: bench.command, environment: bench.environment });
  const known = join(ui.folder, 'home', '.config', 'dray', 'window.json');
  mkdirSync(join(known, '..'), { recursive: true });
  writeFileSync(known, JSON.stringify({ workspaces: [bench.root] }));
  await using context = await browser.newContext();
  const page = await context.newPage();
  await page.addInitScript(WATCH.replace('NAME', bench.name));
  await page.goto(ui.link);
  const usefulMs = (await page.evaluate('usefulMs')) as number;
  const [firstMs, requests] = (await page.evaluate(`[
    performance.getEntriesByName('first-contentful-paint')[0].startTime,
    performance.getEntriesByType('resource').length + 1,
  ]`)) as [number, number];
  return { usefulMs, firstMs, requests };
}
