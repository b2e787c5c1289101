/**
 * Pictures of the screens, stored beside the tests and shown by the guide. `DRAY_SCREENS=write` writes them
 * anew. Otherwise a screen is compared with its picture, which the browser itself decodes.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Locator, Page } from 'playwright';

const FOLDER = fileURLToPath(new URL('./screens/', import.meta.url));
/** The Chromium version of the pictures. Another version may draw text and fields differently. */
const VERSION_FILE = join(FOLDER, 'chromium.txt');
/** Fonts differ a little from machine to machine, and so do the edges of letters. */
const DIFFERENT_SHARE_MAX = 0.02;
/** Out of 255 per colour channel: pixels within this tolerance count as equal. */
const CHANNEL_TOLERANCE = 40;

export interface ScreenshotOptions {
  /** Elements to cover in both pictures: times, speeds and sizes differ between runs. */
  readonly mask?: readonly Locator[];
  readonly differentShareMax?: number;
}

export interface Comparison {
  /** From 0 to 1; 1 when the sizes differ. */
  readonly differentShare: number;
}

/**
 * Only warns when the browser is another Chromium version than the pictures'. @throws Error that names both
 * pictures when they differ by more than the tolerance, or when there is no picture.
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
      `There is no picture ${kept}. Take it with DRAY_SCREENS=write, and review it before you commit it.`,
    );
  const { differentShare } = await comparePictures(page, readFileSync(kept), now);
  if (differentShare <= differentShareMax) return;
  const found = join(tmpdir(), `dray-screen-${name.replaceAll('/', '-')}.png`);
  writeFileSync(found, now);
  const percent = (differentShare * 100).toFixed(1);
  const difference = `${percent} % of the screen differ from ${kept}; it is now ${found}.`;
  const known = readFileSync(VERSION_FILE, 'utf8').trim();
  if (majorVersion(page) === known) throw new Error(difference);
  console.warn(`${difference} The picture is of Chromium ${known}, this is ${majorVersion(page)}.`);
}

function majorVersion(page: Page): string {
  return page.context().browser()?.version().split('.')[0] ?? '';
}

/**
 * Runs in a page without a policy, since the window's own policy would refuse the pictures. A pixel with an
 * equal neighbour counts as equal, so that text which moved by one pixel is no difference.
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
        const [pixels, others] = [new Uint32Array(one.data.buffer), new Uint32Array(two.data.buffer)];
        let different = 0;
        for (let y = 0; y < height; y += 1) {
          for (let x = 0; x < width; x += 1) {
            // Nearly all pixels are equal.
            if (pixels[y * width + x] === others[y * width + x]) continue;
            const at = (y * width + x) * 4;
            // Compares in both directions: a new thin line has no match in the older picture, and a removed
            // one none in the newer.
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
