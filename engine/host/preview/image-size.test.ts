import { describe, expect, it } from 'vitest';
import { pixelsOf } from './image-size.ts';

const head = (length: number, ...parts: readonly (readonly [at: number, bytes: readonly number[]])[]) => {
  const bytes = Buffer.alloc(length);
  for (const [at, some] of parts) bytes.set(some, at);
  return bytes;
};
const text = (letters: string) => [...Buffer.from(letters)];

describe('the pixels that a picture claims', () => {
  it.each([
    ['image/png', head(24, [16, [0, 1, 0, 0]], [20, [0, 0, 0, 3]]), 65_536 * 3],
    ['image/gif', head(10, [6, [0, 2, 1, 0]]), 512],
    ['image/bmp', head(30, [14, [40]], [18, [2, 0, 0, 0]], [22, [0xfd, 0xff, 0xff, 0xff]]), 6],
    ['image/bmp', head(30, [14, [12]], [18, [2, 0, 5, 0]]), 10],
    // A comment, a fill byte, then the frame.
    [
      'image/jpeg',
      head(30, [0, [0xff, 0xd8, 0xff, 0xfe, 0, 4, 0, 0, 0xff, 0xff, 0xc2, 0, 17, 8, 0, 7, 1, 0]]),
      1_792,
    ],
    ['image/webp', head(30, [12, text('VP8 ')], [26, [4, 0, 5, 0]]), 20],
    ['image/webp', head(30, [12, text('VP8L')], [21, [0x03, 0x40, 0, 0]]), 8],
    ['image/webp', head(30, [12, text('VP8X')], [24, [9, 0, 0, 4, 0, 0]]), 50],
    [
      'image/avif',
      head(
        60,
        [8, text('ispe')],
        [16, [0, 0, 0, 2, 0, 0, 0, 2]],
        [30, text('ispe')],
        [38, [0, 0, 0, 9, 0, 0, 0, 9]],
      ),
      81,
    ],
  ])('of %s are read from its head', (mime, bytes, pixels) => {
    expect(pixelsOf(mime, bytes)).toBe(pixels);
  });

  it('are not known of a picture that ends before them, or of another kind', () => {
    for (const mime of ['image/png', 'image/gif', 'image/bmp', 'image/jpeg', 'image/webp', 'image/avif'])
      for (let length = 0; length < 10; length += 1)
        expect(pixelsOf(mime, Buffer.alloc(length)), `${mime} ${length}`).toBeUndefined();
    expect(
      pixelsOf('image/jpeg', Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0, 0, 0, 0, 0, 0, 0])),
    ).toBeUndefined();
    expect(pixelsOf('image/x', Buffer.alloc(99))).toBeUndefined();
  });
});
