import { describe, expect, it } from 'vitest';
import { DrayError } from '../api/error.ts';
import { countScans, mayBacktrack } from '../base/count-scans.fixture.ts';
import { parseHead } from './http/http-answer-head.ts';
import { AnswerReader } from './http/http-answer-reader.ts';
import { HttpError } from './http/http-message.ts';
import { parseInSlices, readListPage, SLICE_CHARS } from './s3/answers/s3-list-page.ts';
import { parseErrorBody, readResult } from './s3/answers/s3-xml.ts';
import { parseUploadId, parseWritten } from './s3/answers/s3-xml-results.ts';
import { parseSections } from './s3/keys/aws-profile.ts';

const XML_FRAGMENTS = [
  ...['<ListBucketResult', '<ListBucketResult ', '</ListBucketResult', '</ListBucketResult ', '<Contents>'],
  ...['</Contents>', '<Key>', '</Key>', '</Key', '<Key', '<', '>', '/>', ' ', '\n', '<?', '?>', '<?x?>', '&'],
  ...['&#x', '&#1', '&amp', '&amp;', '&#x110000;', ';', '%', '%ff', '+', '<CommonPrefixes>', '<Prefix>'],
  ...[
    '<Error>',
    '<Part>',
    '<Upload>',
    '<ETag>"',
    '<Size>9',
    '<LastModified>2',
    '<EncodingType>url</EncodingType>',
  ],
];
const LINE_FRAGMENTS = [
  ...[
    '[',
    ']',
    '[a',
    ' ',
    '\t',
    '=',
    '#',
    ' #',
    ' ;',
    '\r',
    '\n',
    'a',
    'a=',
    ' a = b',
    '"',
    '\u2028',
    '\r\n',
  ],
  ...['HTTP/1.1 200 ', 'a:', 'a: b\r\n', ':', '\u00a0'],
];

const encoded = (xml: string) => new TextEncoder().encode(xml);

interface Parser {
  readonly name: string;
  readonly fragments: readonly string[];
  /** Around the repeated fragments. */
  readonly frames: readonly (readonly [before: string, after: string])[];
  readonly parse: (text: string) => unknown;
}

const LIST_FRAMES = [
  ['', ''],
  ['<ListBucketResult>', '</ListBucketResult>'],
  ['<ListBucketResult><Contents>', '</ListBucketResult>'],
  ['<?xml', '?><ListBucketResult/>'],
] as const;

const PARSERS: readonly Parser[] = [
  {
    name: 'a page of a list',
    fragments: XML_FRAGMENTS,
    frames: LIST_FRAMES,
    parse: (xml) => [...parseInSlices(xml)],
  },
  {
    name: 'a result and its fields',
    fragments: XML_FRAGMENTS,
    frames: [
      ['', ''],
      ['<R>', '</R>'],
    ],
    parse: (xml) => {
      for (const read of [parseWritten, parseUploadId]) tolerating(() => read(xml));
      readResult(encoded(xml), 'R');
    },
  },
  {
    name: 'an error',
    fragments: XML_FRAGMENTS,
    frames: [['', '']],
    parse: (xml) => parseErrorBody(encoded(xml)),
  },
  {
    name: 'the head of an answer',
    fragments: LINE_FRAGMENTS,
    frames: [['HTTP/1.1 200 OK\r\n', '']],
    parse: parseHead,
  },
  {
    name: 'settings of AWS and rclone',
    fragments: LINE_FRAGMENTS,
    frames: [
      ['', ''],
      ['[a]\n', '\n'],
    ],
    parse: parseSections,
  },
];

/** Only errors that the client translates may leave a parser. */
function tolerating(work: () => unknown): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof DrayError && error.code !== 'internal') && !(error instanceof HttpError))
      throw error;
  }
}

const SMALL = 150;
/** How often a parser may read one character, in all its passes. */
const LOOKS_MAX = 80;

describe.each(PARSERS)('reading $name', ({ fragments, frames, parse }) => {
  it('takes at most twice the steps for twice the text, whatever two fragments it repeats', () => {
    for (const [before, after] of frames)
      for (const first of fragments)
        for (const second of ['', ...fragments]) {
          const textOf = (times: number) => before + first.repeat(times) + second.repeat(times) + after;
          const mixedOf = (times: number) => before + (first + second).repeat(times) + after;
          for (const make of [textOf, mixedOf]) {
            const count = (times: number) => countScans(() => tolerating(() => parse(make(times))));
            const once = count(SMALL);
            const twice = count(2 * SMALL);
            const what = JSON.stringify([before, first, second]);
            expect(twice, what).toBeLessThanOrEqual(2.2 * once + 600);
            expect(twice, what).toBeLessThanOrEqual(LOOKS_MAX * make(2 * SMALL).length + 600);
          }
        }
  });
});

describe('the count of characters that are read', () => {
  it('counts a backtracking regular expression as quadratic, and a restarting search by the characters that it reads', () => {
    const [end, spaces] = ['(?:<\\/a\\s*>|<a[^>]*\\/>)\\s*$', '\\/+$'].map((source) => new RegExp(source));
    for (const pattern of [end!, spaces!]) expect(mayBacktrack(pattern.source)).toBe(true);
    for (const pattern of [/^[\w*+-]+$/, /\s+/g, /^\d{1,3} x/, /[*+]/])
      expect(mayBacktrack(pattern.source)).toBe(false);
    expect(countScans(() => end!.test('<a'.repeat(500)))).toBeGreaterThan(500_000);
    const restarting = (text: string) => {
      for (let at = 0; at < text.length; at += 1) text.indexOf('>', at);
    };
    expect(countScans(() => restarting('a'.repeat(1000)))).toBeGreaterThan(500_000);
  });
});

describe('the head of an answer that comes byte by byte', () => {
  it('is copied at most a few times', () => {
    const copied = (bytes: number) => {
      const { copy } = Buffer.prototype;
      let count = 0;
      Buffer.prototype.copy = function counted(...parameters: Parameters<typeof copy>) {
        const size = copy.apply(this, parameters);
        count += size;
        return size;
      };
      try {
        const reader = new AnswerReader('GET', { begin() {}, place: () => new Uint8Array(1), placed() {} });
        const head = `HTTP/1.1 200 OK\r\na: ${'b'.repeat(bytes)}`;
        for (const byte of Buffer.from(head)) reader.read(Buffer.from([byte]));
      } finally {
        Buffer.prototype.copy = copy;
      }
      return count;
    };
    expect(copied(60_000)).toBeLessThan(4 * 60_100);
  });

  it('reads the same as in one piece, and is refused beyond its limit', () => {
    const answers: unknown[] = [];
    const receiver = {
      begin: (answer: unknown) => answers.push(answer),
      place: () => new Uint8Array(9),
      placed() {},
    };
    const head = 'HTTP/1.1 200 OK\r\nx: 1\r\nx: 2\r\nx: 3\r\ncontent-length: 0\r\n\r\n';
    for (const size of [1, 3, 7, head.length]) {
      const reader = new AnswerReader('GET', receiver as never);
      for (let at = 0; at < head.length; at += size) reader.read(Buffer.from(head.slice(at, at + size)));
      expect(reader.isDone).toBe(true);
    }
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toMatchObject({ headers: { x: ['1', '2', '3'] } });
    const reader = new AnswerReader('GET', receiver as never);
    reader.read(Buffer.from('HTTP/1.1 200 OK\r\n'));
    expect(() => reader.read(Buffer.alloc(80_000, 'a'))).toThrow(HttpError);
  });
});

describe('a large page of a list', () => {
  const one = `<Contents><Key>${'k'.repeat(900)}</Key><Size>1</Size></Contents>`;
  const xmlOf = (objects: number) => `<ListBucketResult>${one.repeat(objects)}</ListBucketResult>`;

  it('yields to the event loop after each MiB, and can be stopped there', async () => {
    const objects = Math.ceil((4.5 * SLICE_CHARS) / one.length);
    let turns = 0;
    let isOver = false;
    const count = () => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const page = await readListPage(xmlOf(objects), undefined);
    isOver = true;
    expect(page.objects).toHaveLength(objects);
    expect(turns).toBeGreaterThanOrEqual(4);

    const controller = new AbortController();
    const reading = readListPage(xmlOf(objects), controller.signal);
    controller.abort();
    await expect(reading).rejects.toMatchObject({ code: 'aborted' });
  });

  it('is read without a pause at the usual size', async () => {
    let turns = 0;
    setImmediate(() => {
      turns += 1;
    });
    await readListPage(xmlOf(1000), undefined);
    expect(turns).toBe(0);
  });
});
