/** Drags files and folders of the disk onto a page, as a file manager does. */
import type { Locator, Page } from 'playwright';

/** @param paths Absolute; a folder is dropped as a folder. */
export async function dropFromDesktop(page: Page, target: Locator, paths: readonly string[]): Promise<void> {
  await target.waitFor();
  const box = await target.boundingBox();
  if (!box) throw new Error('The target of the drop is not visible.');
  const at = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  const data = { items: [], files: [...paths], dragOperationsMask: 1 };
  const session = await page.context().newCDPSession(page);
  try {
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
      await session.send('Input.dispatchDragEvent', { type, ...at, data });
  } finally {
    await session.detach();
  }
}
