/** Pictures for tests, as PNG: 8 bits a channel, without transparency. */
import { crc32, deflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

/** Red, green and blue, 0 to 255. */
export type Color = readonly [red: number, green: number, blue: number];

/** A square of `side` pixels each way. */
export function encodePng(side: number, colorAt: (x: number, y: number) => Color): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([8, 2, 0, 0, 0], 8);
  // Each line starts with its filter type: none.
  const lineBytes = 1 + side * 3;
  const lines = Buffer.alloc(side * lineBytes);
  for (let y = 0; y < side; y += 1)
    for (let x = 0; x < side; x += 1) lines.set(colorAt(x, y), y * lineBytes + 1 + x * 3);
  return Buffer.concat([SIGNATURE, chunk('IHDR', header), chunk('IDAT', deflateSync(lines)), chunk('IEND')]);
}

function chunk(name: string, content = Buffer.alloc(0)): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), content]);
  const framed = Buffer.alloc(named.length + 8);
  framed.writeUInt32BE(content.length, 0);
  named.copy(framed, 4);
  framed.writeUInt32BE(crc32(named), named.length + 4);
  return framed;
}
