import { describe, expect, it } from 'vitest';
import type { TablePreview } from '../../../api/host/file-preview.ts';
import { runBudget } from '../../../base/run-budget.fixture.ts';
import { readFirstPages } from './column-pages.ts';
import { type ParquetName, parquetFile } from './parquet.fixture.ts';
import { previewParquet } from './preview-parquet.ts';

/** Bytes between two that are changed. Each takes three threads. */
const CHANGED_EVERY = runBudget({ short: 499, long: 7 });
const { signal } = new AbortController();
const sourceOf = (bytes: Buffer, sizeBytes = bytes.length) => ({
  sizeBytes,
  read: async (start: number, end: number) => bytes.subarray(start, end),
});
const preview = (bytes: Buffer, options: { decodingMsMax?: number } = {}) =>
  previewParquet(sourceOf(bytes), { signal, ...options });

async function tableOf(name: ParquetName): Promise<TablePreview> {
  const outcome = await preview(parquetFile(name));
  if ('why' in outcome) throw new Error(outcome.why);
  return outcome.table;
}

describe('the table of a Parquet file', () => {
  it('has every value as it is stored, and the declared types', async () => {
    const { columns, isCut, rows, rowsTotal } = await tableOf('types');
    expect(columns.map(({ name, type }) => `${name}: ${type}`)).toEqual([
      'id: int64',
      'big: int64',
      'price: decimal(25, 2)',
      'at: time, UTC',
      'day: date',
      'raw: bytes',
      'tags: list',
      'place: struct',
      'note: text',
    ]);
    expect(rows).toEqual([
      [
        '1',
        '9007199254740993',
        '0.10',
        '2026-04-01 12:30:00.123456',
        '2026-04-01',
        '0x00ff',
        '["a","b"]',
        '{"lat":1.5,"lon":2}',
        '<b>bold</b>',
      ],
      ['2', '-1', '-12345678901234567890.05', null, null, 'text', '[]', null, '\u00e9\u00e9\u00e9'],
      ['3', null, null, '1969-12-31 23:59:59.999999', '1900-01-01', null, null, '{"lat":null,"lon":3}', null],
    ]);
    expect({ isCut, rowsTotal }).toEqual({ isCut: false, rowsTotal: 3 });
  });

  it('has the values inside lists, structs and maps as their types have them', async () => {
    expect((await tableOf('inner')).rows).toEqual([
      [
        '["1.50",null]',
        '["NaN",0.1]',
        '{"price":"12.34","day":"1970-01-02","at":"1970-01-01 00:00:00.000005"}',
        '{"k":"9.99"}',
      ],
      ['["-0.05"]', '["Infinity"]', '{"price":null,"day":null,"at":null}', '{}'],
    ]);
  });

  it('has times of day in any unit', async () => {
    const { columns, rows } = await tableOf('times');
    expect(columns.map(({ type }) => type)).toEqual(['time of day', 'time of day', 'time of day', 'list']);
    expect(rows).toEqual([
      ['00:00:01', '23:59:59.999999', '00:00:00.000000001', '["00:00:01.5"]'],
      ['23:59:59.999', null, '00:00:00', '[]'],
    ]);
  });

  it.each(['none', 'gzip', 'brotli', 'zstd', 'lz4'] as const)('is read with %s compression', async (name) => {
    expect((await tableOf(name)).rows.map(([id]) => id)).toEqual(['1', '2', '3']);
  });

  it('is read from pages of version 2, and is empty for a file without rows', async () => {
    expect((await tableOf('v2')).rows).toEqual([
      ['1', '["a","b"]'],
      ['2', '[]'],
      ['3', null],
    ]);
    expect(await tableOf('empty')).toMatchObject({ rows: [], rowsTotal: 0, columns: [{ name: 'id' }, {}] });
  });

  it('is read where the older name of LZ4 stands for a block without frames', async () => {
    const outcome = await preview(withCodec(LZ4));
    expect('table' in outcome && outcome.table.rows).toEqual((await tableOf('lz4')).rows);
  });

  it('leaves out an encrypted column, and says that it is encrypted', async () => {
    const { columns, note, rows } = await tableOf('encrypted');
    expect(columns).toEqual([{ name: 'open', type: 'int64' }]);
    expect(rows).toEqual([['1'], ['2'], ['3']]);
    expect(note).toBe('Column "secret" is not shown: it is encrypted.');
  });

  it('names an unsupported compression', async () => {
    expect(await preview(withCodec(LZO))).toEqual({ why: 'Dray does not read LZO compression' });
  });

  it('has the first 500 rows, over several row groups', async () => {
    const { isCut, rows, rowsTotal } = await tableOf('rows');
    expect([rows.length, rows[0], rows[499], isCut, rowsTotal]).toEqual([
      500,
      ['1', 'site 0'],
      ['500', 'site 2'],
      true,
      600,
    ]);
  });

  it('reads only the end and the first pages of a large file', async () => {
    const small = parquetFile('rows');
    // Zeros between the pages and the footer, as if more row groups followed.
    const footerBytes = small.readUInt32LE(small.length - 8) + 8;
    const pages = small.subarray(0, small.length - footerBytes);
    const sizeBytes = 5_000_000_000;
    let readBytes = 0;
    let reads = 0;
    const read = async (start: number, end: number) => {
      readBytes += end - start;
      reads += 1;
      const bytes = Buffer.alloc(end - start);
      if (start < pages.length) pages.copy(bytes, 0, start);
      const footerStart = sizeBytes - footerBytes;
      if (end > footerStart) small.copy(bytes, Math.max(0, footerStart - start), pages.length);
      return bytes;
    };
    const outcome = await previewParquet({ sizeBytes, read }, { signal });
    expect(outcome).toMatchObject({ table: { rowsTotal: 600, isCut: true } });
    expect(readBytes).toBeLessThan(100_000);
    // Its end, and the columns of each of the shown row groups.
    expect(reads).toBe(4);
  });

  it('rethrows a read error, and stops when the request is aborted', async () => {
    const read = () => Promise.reject(new Error('the disk is gone'));
    await expect(previewParquet({ sizeBytes: 500, read }, { signal })).rejects.toThrow('the disk is gone');
    const stop = new AbortController();
    const never = previewParquet(
      { sizeBytes: 500, read: () => new Promise(() => {}) },
      { signal: stop.signal },
    );
    stop.abort(new Error('stopped'));
    await expect(never).rejects.toThrow('stopped');
  });
});

const LZO = 3;
const LZ4 = 5;

/** The file of LZ4_RAW whose columns claim another codec. */
function withCodec(codec: number): Buffer {
  const bytes = parquetFile('lz4');
  for (const path of ['\x02id', '\x04note']) {
    // The codec follows the column's path as the next field: 0x15, then the zigzag number.
    const at = bytes.indexOf(`\x19\x18${path}\x15\x0e`, 0, 'latin1');
    bytes[at + 3 + path.length] = codec * 2;
  }
  return bytes;
}

/** A file with this footer. */
function withFooter(footer: readonly number[] | Buffer, length = footer.length): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(length);
  return Buffer.concat([Buffer.from('PAR1'), Buffer.from(footer), size, Buffer.from('PAR1')]);
}

const MOST = [0xff, 0xff, 0xff, 0xff, 0x07];

describe('a hostile Parquet file', () => {
  it.each([
    ['is too short', Buffer.from('PAR1'), 'it is too short'],
    ['is something else', Buffer.alloc(1_000, 'text'), 'it does not end as a Parquet file does'],
    [
      'has a footer longer than itself',
      withFooter([0], 2 ** 31),
      'its footer claims to be longer than the file',
    ],
    ['has an encrypted footer', Buffer.from('PARE12345678PARE'), 'it is encrypted'],
    [
      'counts a billion columns',
      withFooter([0x29, 0xfc, ...MOST, 0, 0]),
      'a header counts more than the file holds',
    ],
    ['has a name of a gigabyte', withFooter([0x18, ...MOST, 0, 0]), 'a header ends too early'],
    ['has a number without an end', withFooter(Buffer.alloc(100_000, 0xff)), 'a header has'],
    [
      'nests structs without an end',
      withFooter(Buffer.alloc(100_000, 0x1c)),
      'a header is too large or too deep',
    ],
    [
      'has millions of empty structs',
      withFooter(manyStructs(2_000_000)),
      'a header is too large or too deep',
    ],
    ['has an empty footer', withFooter([0]), 'its content is damaged'],
  ])('that %s is refused with a reason', async (_, bytes, why) => {
    const outcome = await preview(bytes);
    expect('why' in outcome && outcome.why).toContain(why);
  });

  it('with any byte changed gives a table or a reason, and never ends the engine', async () => {
    const good = parquetFile('types');
    const seen = { table: 0, why: 0 };
    for (let at = 5; at < good.length; at += CHANGED_EVERY) {
      for (const value of [0xff, 0x00, good[at]! ^ 0x08]) {
        const bytes = Buffer.from(good);
        bytes[at] = value;
        const outcome = await preview(bytes, { decodingMsMax: 2_000 });
        if ('why' in outcome) expect(outcome.why).toMatch(/^[^\n]{5,200}$/);
        seen['table' in outcome ? 'table' : 'why'] += 1;
      }
    }
    expect(seen.why).toBeGreaterThan(2);
    expect(seen.table).toBeGreaterThan(2);
  });

  it('is given up when decoding exceeds its time limit', async () => {
    const outcome = await preview(parquetFile('rows'), { decodingMsMax: 0 });
    expect(outcome).toEqual({ why: 'decoding it takes too long' });
  });
});

/** One field: a list of structs without fields. */
function manyStructs(count: number): Buffer {
  const varint: number[] = [];
  for (let left = count; left > 0; left = Math.floor(left / 128))
    varint.push((left % 128) | (left >= 128 ? 0x80 : 0));
  return Buffer.concat([Buffer.from([0x29, 0xfc, ...varint]), Buffer.alloc(count), Buffer.from([0])]);
}

/** A number as Thrift's compact protocol has it. */
function zigzag(value: number): readonly number[] {
  const bytes: number[] = [];
  let left = value < 0 ? -value * 2 - 1 : value * 2;
  do {
    bytes.push((left % 128) | (left >= 128 ? 0x80 : 0));
    left = Math.floor(left / 128);
  } while (left > 0);
  return bytes;
}

/** The header of a data page, with ten bytes of content behind it. */
function pageWith({ encoding = 0, unpacked = 10, values = 1, packed = 10 }): Buffer {
  const sizes = [0x15, ...zigzag(0), 0x15, ...zigzag(unpacked), 0x15, ...zigzag(packed)];
  const data = [0x2c, 0x15, ...zigzag(values), 0x15, ...zigzag(encoding), 0x15, 6, 0x15, 6, 0];
  return Buffer.from([...sizes, ...data, 0, ...Buffer.alloc(10)]);
}

function pageOfVersion2(nulls: number): Buffer {
  const sizes = [0x15, ...zigzag(3), 0x15, ...zigzag(10), 0x15, ...zigzag(10)];
  const data = [
    0x5c,
    0x15,
    ...zigzag(1),
    0x15,
    ...zigzag(nulls),
    0x15,
    ...zigzag(1),
    0x15,
    0,
    0x15,
    0,
    0x15,
    0,
    0,
  ];
  return Buffer.from([...sizes, ...data, 0, ...Buffer.alloc(10)]);
}

describe('a page of a Parquet file', () => {
  const read = (page: Buffer, depth = 0) => {
    const place = { start: 0, end: page.length, isNested: false, depth };
    return readFirstPages(sourceOf(page), place, 500, { values: 2_000_000, bytes: 10_000_000 });
  };

  it.each([
    ['claims a billion values', pageWith({ values: 2 ** 30 }), 'more than 1,000,000 values'],
    ['claims fewer than no values', pageWith({ values: -5 }), 'more than 1,000,000 values'],
    ['claims to unpack to a gigabyte', pageWith({ unpacked: 2 ** 30 }), 'larger than 16 MiB'],
    ['claims to be larger than its column', pageWith({ packed: 11 }), 'lies outside its column'],
    ['has fewer nulls than none', pageOfVersion2(-(2 ** 30)), 'has wrong counts'],
    [
      'repeats a long prefix',
      pageWith({ encoding: 7, values: 900_000, unpacked: 10_000 }),
      'in small pages only',
    ],
    ['unpacks to more than all may', pageWith({ unpacked: 15_000_000 }), 'too much memory'],
  ])('that %s is refused before anything is allocated', async (_, page, why) => {
    await expect(read(page)).rejects.toThrow(why);
  });

  it('counts each value once for each array around it', async () => {
    expect((await read(pageWith({ values: 900_000 }))).length).toBeGreaterThan(20);
    await expect(read(pageWith({ values: 900_000 }), 3)).rejects.toThrow('too much memory');
  });
});
