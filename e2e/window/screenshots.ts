/**
 * Pictures of the screens, kept beside the tests and shown by the README. `DRAY_SCREENS=write` takes them anew; otherwise a screen is
 * compared with its picture, which is decoded by the browser itself.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Locator, Page } from 'playwright';

const FOLDER = fileURLToPath(new URL('./screens/', import.meta.url));
/** The Chromium that the pictures hold for. Another one may draw letters and fields in its own way. */
const VERSION_FILE = join(FOLDER, 'chromium.txt');
/** Fonts differ a little from machine to machine, and so do the edges of letters. */
const DIFFERENT_SHARE_MAX = 0.02;
/** Of 255, in any colour: below it, a pixel counts as the same. */
const CHANNEL_TOLERANCE = 40;

export interface ScreenshotOptions {
  /** Covered on both sides: times, speeds, sizes that no two runs share. */
  readonly mask?: readonly Locator[];
  readonly differentShareMax?: number;
}

export interface Comparison {
  /** 0 to 1; 1 where the sizes differ. */
  readonly differentShare: number;
}

/**
 * Warns instead of throwing where another Chromium than the one of the pictures runs.
 * @throws An error that names both pictures when they differ by more than the tolerance, or when there is none to compare with.
 */
export async function checkScreenshot(
  page: Page,
  name: string,
  { differentShareMax = DIFFERENT_SHARE_MAX, mask = [] }: ScreenshotOptions = {},
): Promise<void> {
  const kept = join(FOLDER, `${name}.png`);
  const now = await page.screenshot({ animations: 'disabled', caret: 'hide', mask: [...mask] });
  if (process.env.DRAY_SCREENS === 'write') {
    mkdirSync(dirname(kept), { recursive: true });
    writeFileSync(kept, now);
    writeFileSync(VERSION_FILE, `${majorVersion(page)}\n`);
    return;
  }
  if (!existsSync(kept))
    throw new Error(
      `There is no picture ${kept}. DRAY_SCREENS=write takes it; look at it before it is kept.`,
    );
  const { differentShare } = await comparePictures(page, readFileSync(kept), now);
  if (differentShare <= differentShareMax) return;
  const found = join(tmpdir(), `dray-screen-${name.replaceAll('/', '-')}.png`);
  writeFileSync(found, now);
  const percent = (differentShare * 100).toFixed(1);
  const difference = `${percent} % of the screen differ from ${kept}; it is now ${found}.`;
  const known = readFileSync(VERSION_FILE, 'utf8').trim();
  if (majorVersion(page) === known) throw new Error(difference);
  console.warn(`${difference} The picture holds for Chromium ${known}, this is ${majorVersion(page)}.`);
}

function majorVersion(page: Page): string {
  return page.context().browser()?.version().split('.')[0] ?? '';
}

/**
 * In a page without a policy: what is compared must not be refused by the window's own. A pixel that has a like one beside it counts as
 * the same, so that a letter which moved by one pixel is no difference.
 */
export async function comparePictures(page: Page, before: Buffer, after: Buffer): Promise<Comparison> {
  const blank = await page.context().newPage();
  try {
    const differentShare = await blank.evaluate(
      async ({ pictures, tolerance }) => {
        const read = async (base64: string) => {
          const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
          const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
          const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d')!;
          canvas.drawImage(image, 0, 0);
          return canvas.getImageData(0, 0, image.width, image.height);
        };
        const [one, two] = [await read(pictures[0]!), await read(pictures[1]!)];
        const { height, width } = one;
        if (width !== two.width || height !== two.height) return 1;
        type Picture = typeof one;
        const isLike = (from: Picture, at: number, to: Picture, other: number) =>
          [0, 1, 2].every(
            (channel) => Math.abs(from.data[at + channel]! - to.data[other + channel]!) <= tolerance,
          );
        const hasLike = (from: Picture, to: Picture, x: number, y: number) => {
          for (let row = Math.max(0, y - 1); row <= Math.min(height - 1, y + 1); row += 1)
            for (let column = Math.max(0, x - 1); column <= Math.min(width - 1, x + 1); column += 1)
              if (isLike(from, (y * width + x) * 4, to, (row * width + column) * 4)) return true;
          return false;
        };
        let different = 0;
        for (let y = 0; y < height; y += 1) {
          for (let x = 0; x < width; x += 1) {
            const at = (y * width + x) * 4;
            // Both ways: a thin line that is new has nothing like it in the older picture, and one that is gone nothing in the newer.
            const isSame = isLike(one, at, two, at) || (hasLike(one, two, x, y) && hasLike(two, one, x, y));
            if (!isSame) different += 1;
          }
        }
        return different / (width * height);
      },
      {
        pictures: [before.toString('base64'), after.toString('base64')],
        tolerance: CHANNEL_TOLERANCE,
      },
    );
    return { differentShare };
  } finally {
    await blank.close();
  }
}
