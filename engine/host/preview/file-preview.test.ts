import { describe, expect, it } from 'vitest';
import { MEDIA_BYTES_MAX } from '../../api/host/file-preview.ts';
import { IMAGE_BYTES_MAX, PIXELS_MAX, previewFile, TEXT_BYTES_MAX } from './file-preview.ts';

const SOURCE = { place: '/somewhere' };
const preview = (name: string, content: string | Uint8Array, sizeBytes?: number) => {
  const bytes = Buffer.from(content);
  let readBytes = 0;
  const source = {
    name,
    facts: { sizeBytes: sizeBytes ?? bytes.length },
    read: async (maxBytes: number) => {
      readBytes = Math.min(maxBytes, bytes.length);
      return bytes.subarray(0, maxBytes);
    },
    readRange: async (start: number, end: number) => bytes.subarray(start, end),
    signal: new AbortController().signal,
    source: SOURCE,
  };
  return previewFile(source).then((shown) => ({ ...shown, readBytes }));
};

describe('the preview of a file', () => {
  it('is text if the bytes are text', async () => {
    expect(await preview('no-extension', 'some text')).toMatchObject({ as: 'text', text: 'some text' });
    expect(await preview('empty', '')).toMatchObject({ as: 'text', text: '', isCut: false });
    expect(await preview('x.txt', Buffer.from([0x66, 0, 0x66]))).toMatchObject({
      as: 'facts',
      start: 'ZgBm',
    });
    for (const bytes of [Buffer.from('caf\u00e9,1', 'latin1'), Buffer.from('a,b\n1,\0')])
      expect(await preview('latin.CSV', bytes)).toMatchObject({
        as: 'facts',
        why: 'This is not text in UTF-8, nor in UTF-16 with its mark, so its first bytes are shown.',
      });
    expect(await preview('x.bin', Buffer.from([0xff, 0]))).not.toHaveProperty('why');
  });

  it('reads only the shown part of a long text, and splits no character', async () => {
    for (const letter of ['x', '\u00e9', '\u20ac', '\u{1f600}']) {
      for (const shift of ['', 'a', 'ab', 'abc']) {
        const shown = await preview('long.txt', shift + letter.repeat(TEXT_BYTES_MAX + 1));
        if (shown.as !== 'text') throw new Error('it is text');
        expect(shown.isCut).toBe(true);
        expect(shown.readBytes).toBe(TEXT_BYTES_MAX);
        expect(shown.text.endsWith(letter)).toBe(true);
      }
    }
  });

  it('is text in UTF-16 with its mark, also as a table, and not without', async () => {
    const wide = Buffer.from('\ufeffid;name\n1;Zo\u00eb\n', 'utf16le');
    const rows = [['1', 'Zo\u00eb']];
    expect(await preview('a.csv', wide)).toMatchObject({ as: 'text', table: { rows } });
    const swapped = Buffer.from(wide).swap16();
    expect(await preview('a.csv', swapped)).toMatchObject({ as: 'text', table: { rows } });
    const long = Buffer.from(`\ufeff${'\u{1f600}'.repeat(TEXT_BYTES_MAX)}`, 'utf16le');
    const shown = await preview('a.txt', long);
    if (shown.as !== 'text') throw new Error('it is text');
    expect([shown.isCut, shown.readBytes, /^\u{1f600}+$/u.test(shown.text)]).toEqual([
      true,
      TEXT_BYTES_MAX,
      true,
    ]);
    for (const bytes of [wide.subarray(2), Buffer.from([0xff, 0xfe, 0x41]), Buffer.from('fffe000041', 'hex')])
      expect(await preview('a.csv', bytes)).toMatchObject({ as: 'facts' });
  });

  it('shows SVG and HTML as the text that they are, whatever their extension', async () => {
    for (const text of ['<svg onload="alert(1)"/>', '<!doctype html><script>alert(1)</script>'])
      for (const name of ['a.svg', 'a.html', 'a.png'])
        expect(await preview(name, text)).toMatchObject({ as: 'text', text });
  });

  it('is no picture if a few bytes claim more pixels than a browser should decode', async () => {
    const png = (width: number, height: number) => {
      const bytes = Buffer.alloc(100);
      bytes.write('\x89PNG\r\n\x1a\n', 'latin1');
      bytes.writeUInt32BE(width, 16);
      bytes.writeUInt32BE(height, 20);
      return bytes;
    };
    expect(await preview('a.png', png(10_000, PIXELS_MAX / 10_000))).toMatchObject({ as: 'image' });
    const why = /^Only pictures of up to 100 million pixels are shown\. This one claims 4,611,/;
    const bomb = await preview('a.png', png(2 ** 31, 2 ** 31));
    expect(bomb).toMatchObject({ as: 'facts', why: expect.stringMatching(why) });
  });

  it('is a picture if signature and extension match and the file is small enough', async () => {
    const jpeg = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.alloc(500)]);
    expect(await preview('a.JPG', jpeg)).toMatchObject({ as: 'image', mime: 'image/jpeg' });
    expect(await preview('a.png', '<script>')).toMatchObject({ as: 'text' });
    const large = Buffer.concat([jpeg, Buffer.alloc(IMAGE_BYTES_MAX)]);
    expect(await preview('a.jpg', large)).toMatchObject({
      as: 'facts',
      readBytes: TEXT_BYTES_MAX,
      why: 'Only pictures of up to 4 MiB are shown.',
    });
  });

  it.each([
    ['a.wav', 'RIFF\0\0\0\0WAVEfmt ', 'audio/wav', false],
    ['a.flac', 'fLaC\0', 'audio/flac', false],
    ['a.mp3', 'ID3\x04', 'audio/mpeg', false],
    ['a.mp3', '\xff\xfb\x90\0', 'audio/mpeg', false],
    ['a.opus', 'OggS\0', 'audio/ogg', false],
    ['a.ogv', 'OggS\0', 'video/ogg', true],
    ['a.webm', '\x1aE\xdf\xa3', 'video/webm', true],
    ['a.m4a', '\0\0\0 ftypM4A ', 'audio/mp4', false],
    ['a.MP4', '\0\0\0 ftypisom', 'video/mp4', true],
  ])(
    'is audio or video where bytes and name of %s agree, and reads only its start',
    async (name, start, mime, isVideo) => {
      const bytes = Buffer.concat([Buffer.from(start, 'latin1'), Buffer.alloc(50_000)]);
      const { readBytes, ...shown } = await preview(name, bytes);
      expect(shown).toEqual({
        as: 'media',
        mime,
        isVideo,
        facts: { sizeBytes: bytes.length },
        source: SOURCE,
      });
      expect(readBytes).toBeLessThan(5_000);
      expect(await preview(name, bytes, MEDIA_BYTES_MAX + 1)).toMatchObject({
        as: 'facts',
        why: 'Only audio and video of up to 128 MiB are played.',
      });
    },
  );

  it('is played only by its signature, and never as a page, a script or a picture', async () => {
    expect(await preview('a.mp4', '<html><script>1</script>')).toMatchObject({ as: 'text' });
    expect(await preview('a.mp3', Buffer.from([0xff, 0xfe, 0x41, 0]))).toMatchObject({ as: 'facts' });
    expect(await preview('a.mp4', Buffer.from('\0\0\0 ftypavif', 'latin1'))).toMatchObject({ as: 'facts' });
    expect(await preview('a.html', 'RIFF\0\0\0\0WAVE')).not.toMatchObject({ as: 'media' });
  });
});
