/**
 * The number of pixels that the head of a picture claims. A few kilobytes may claim gigapixels, and a browser
 * that decodes them takes the memory of the machine.
 */

/** Undefined if the picture does not say it where its format does. */
export function pixelsOf(mime: string, bytes: Buffer): number | undefined {
  try {
    return READERS[mime]?.(bytes);
  } catch {
    // It ends before its size.
    return undefined;
  }
}

type Reader = (bytes: Buffer) => number | undefined;

const READERS: Readonly<Record<string, Reader>> = {
  'image/png': (bytes) => bytes.readUInt32BE(16) * bytes.readUInt32BE(20),
  'image/gif': gifPixels,
  'image/bmp': bmpPixels,
  'image/jpeg': jpegPixels,
  'image/webp': webpPixels,
  'image/avif': avifPixels,
};

/** Each picture of an animation may be larger than the screen that the head names. */
function gifPixels(bytes: Buffer): number {
  return bytes.readUInt16LE(6) * bytes.readUInt16LE(8);
}

/** Version 2 of the format has 16 bits for each side. A negative height counts from the top. */
function bmpPixels(bytes: Buffer): number {
  if (bytes.readUInt32LE(14) === 12) return bytes.readUInt16LE(18) * bytes.readUInt16LE(20);
  return Math.abs(bytes.readInt32LE(18) * bytes.readInt32LE(22));
}

/** Segments until the one that begins a frame. */
function jpegPixels(bytes: Buffer): number | undefined {
  for (let at = 2; at + 9 <= bytes.length; ) {
    if (bytes[at] !== 0xff) return undefined;
    const marker = bytes[at + 1]!;
    // A fill byte, and markers without a length.
    if (marker === 0xff) at += 1;
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) at += 2;
    else if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
      return bytes.readUInt16BE(at + 5) * bytes.readUInt16BE(at + 7);
    else at += 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}

function webpPixels(bytes: Buffer): number | undefined {
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return (bytes.readUInt16LE(26) & 0x3fff) * (bytes.readUInt16LE(28) & 0x3fff);
    case 'VP8L': {
      const packed = bytes.readUInt32LE(21);
      return ((packed & 0x3fff) + 1) * (((packed >>> 14) & 0x3fff) + 1);
    }
    case 'VP8X':
      return (bytes.readUIntLE(24, 3) + 1) * (bytes.readUIntLE(27, 3) + 1);
    default:
      return undefined;
  }
}

/** The largest of the sizes in its properties: of the picture, its tiles and its transparency. */
function avifPixels(bytes: Buffer): number | undefined {
  let most: number | undefined;
  for (let at = bytes.indexOf('ispe'); at !== -1; at = bytes.indexOf('ispe', at + 4)) {
    if (at + 16 > bytes.length) break;
    most = Math.max(most ?? 0, bytes.readUInt32BE(at + 8) * bytes.readUInt32BE(at + 12));
  }
  return most;
}
