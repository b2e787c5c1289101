/** Where a secret could stay: in the page, and in files. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright';

/** All that the page holds and shows. */
export async function pageTexts(page: Page): Promise<string> {
  const held = await page.evaluate(() => [
    location.href,
    JSON.stringify({ ...localStorage }),
    JSON.stringify({ ...sessionStorage }),
    [...document.querySelectorAll('input')].map(({ value }) => value).join(),
  ]);
  return [...held, await page.content()].join('\n');
}

/** The files below a folder that contain the text. */
export function filesWith(folder: string, text: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile() && readFileSync(path).includes(text));
}

/** A snapshot of the page's heap, which has all its strings. */
export async function heapOf(page: Page): Promise<string> {
  const session = await page.context().newCDPSession(page);
  const chunks: string[] = [];
  session.on('HeapProfiler.addHeapSnapshotChunk', ({ chunk }) => chunks.push(chunk));
  await session.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false });
  await session.detach();
  return chunks.join('');
}
