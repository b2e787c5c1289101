import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type RawListPage, readListPage } from './s3-list-page.ts';
import { elementsOf, keyDecoderOf, textOf, timeOf, unquote } from './s3-xml.ts';

const escapeXml = (text: string) =>
  text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`).replaceAll('&#38;', '&amp;');
const encodeForm = (text: string) => encodeURIComponent(text).replaceAll('%20', '+');

/** XML cannot hold most control characters at all; stores send keys with them only as URLs. */
const key = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !/\p{Cc}/u.test(text));
const listed = fc.record({ key, sizeBytes: fc.nat(), etag: fc.stringMatching(/^[0-9a-f]{32}(-\d{1,4})?$/) });

describe('A page of a list', () => {
  it('is read back from any keys, encoded or not', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(listed),
        fc.array(key),
        fc.option(key),
        fc.boolean(),
        async (objects, folders, next, isEncoded) => {
          const encode = (text: string) => escapeXml(isEncoded ? encodeForm(text) : text);
          const xml = [
            `<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">`,
            `<IsTruncated>${next !== null}</IsTruncated>`,
            next === null ? '' : `<NextContinuationToken>${escapeXml(next)}</NextContinuationToken>`,
            isEncoded ? '<EncodingType>url</EncodingType>' : '<EncodingType></EncodingType>',
            ...objects.map(
              (object) =>
                `<Contents><Key>${encode(object.key)}</Key><LastModified>2026-11-21T01:30:23.000Z</LastModified>` +
                `<ETag>&quot;${object.etag}&quot;</ETag><Size>${object.sizeBytes}</Size><Owner><ID>x</ID></Owner></Contents>`,
            ),
            ...folders.map((folder) => `<CommonPrefixes><Prefix>${encode(folder)}</Prefix></CommonPrefixes>`),
            '</ListBucketResult>',
          ].join('\n');
          const modifiedMs = Date.UTC(2026, 10, 21, 1, 30, 23);
          expect(await readListPage(xml, undefined)).toEqual({
            objects: objects.map((object) => ({ ...object, modifiedMs })),
            folders,
            continuation: next ?? undefined,
          });
        },
      ),
    );
  });

  it('may be empty', async () => {
    const xml = '<ListBucketResult><KeyCount>0</KeyCount></ListBucketResult>';
    expect(await readListPage(xml, undefined)).toEqual({
      objects: [],
      folders: [],
      continuation: undefined,
    });
  });

  it('is read as its elements are read one by one, whatever they hold and in whatever order they come', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(contents, folder, other)),
        fc.boolean(),
        async (elements, isEncoded) => {
          const encoding = isEncoded ? 'url' : '';
          const xml = `<ListBucketResult>${elements.join('')}<EncodingType>${encoding}</EncodingType></ListBucketResult>`;
          expect(await readListPage(xml, undefined)).toEqual(parseOneByOne(xml));
        },
      ),
    );
  });

  it.each([
    ['cut short', '<ListBucketResult><Contents><Key>a</Key></Contents><Contents><Key>b</Key>'],
    ['cut behind an object', '<ListBucketResult><Contents><Key>a</Key></Contents>'],
    ['with an object that has no end', '<ListBucketResult><Contents><Key>a</Key></ListBucketResult>'],
    [
      'with an object without a key',
      '<ListBucketResult><Contents><Size>1</Size></Contents></ListBucketResult>',
    ],
    ...['-1', '1.5', 'x', '', '1e999', '9007199254740993'].map((size) => [
      `with an object of size "${size}"`,
      `<ListBucketResult><Contents><Key>a</Key><Size>${size}</Size></Contents></ListBucketResult>`,
    ]),
    [
      'with a key that is not encoded properly',
      '<ListBucketResult><EncodingType>url</EncodingType><Contents><Key>%ff%</Key></Contents></ListBucketResult>',
    ],
    ['of nothing', ''],
    ['of another kind', '<html><body>Sign in</body></html>'],
    ['that is an error', '<?xml version="1.0"?><Error><Code>InternalError</Code></Error>'],
    [
      'that announces more keys without a continuation token',
      '<ListBucketResult><IsTruncated>true</IsTruncated><Contents><Key>a</Key></Contents></ListBucketResult>',
    ],
  ])('is refused %s: what it leaves out is not gone', async (_kind, xml) => {
    await expect(readListPage(xml, undefined)).rejects.toThrow(
      expect.objectContaining({ code: 'remoteFailed', retry: 'retry' }),
    );
  });
});

/** Text that may stand in an element, encoded as URLs and as XML are. */
const text = key.map((plain) => escapeXml(encodeForm(plain)));
const digits = fc.integer({ min: 0, max: 99 }).map((number) => String(number).padStart(2, '0'));
const time = fc.oneof(
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString().replace(/\.\d+Z/, 'Z')),
  // Months, days and hours that there are not, too.
  fc.tuple(digits, digits, digits).map(([month, day, hour]) => `2026-${month}-${day}T${hour}:30:00.000Z`),
  text,
);
const quote = fc.constantFrom('"', '&quot;', '&#34;', '&#x22;', '');
const etag = fc.oneof(
  fc.tuple(quote, fc.stringMatching(/^[0-9a-f]{0,8}$/), quote).map((parts) => parts.join('')),
  text,
);
const element = (name: string, content: fc.Arbitrary<string>) =>
  content.map((inner) => `<${name}>${inner}</${name}>`);
const owner = fc.tuple(element('ID', text), element('DisplayName', text)).map((parts) => parts.join(''));
const other = fc.oneof(element('Name', text), element('KeyCount', digits), fc.constantFrom('\n', '<Empty/>'));
const folder = element('CommonPrefixes', element('Prefix', text));
const contents = element(
  'Contents',
  fc
    .array(
      fc.oneof(
        element('Key', text),
        element('Size', fc.nat().map(String)),
        element('ETag', etag),
        element('LastModified', time),
        element('StorageClass', fc.oneof(fc.constantFrom('STANDARD', ''), text)),
        element('Owner', owner),
        element('ChecksumAlgorithm', fc.constantFrom('CRC64NVME', '')),
        other,
      ),
    )
    .chain((fields) => element('Key', text).map((own) => [...fields, own].join(''))),
);

/** The plain way, by the parts that all other answers are read with. */
function parseOneByOne(xml: string): RawListPage {
  const decodeKey = keyDecoderOf(xml);
  const objects = [...elementsOf(xml, 'Contents')].map((each) => {
    const storageClass = textOf(each, 'StorageClass');
    return {
      key: decodeKey(textOf(each, 'Key') ?? ''),
      sizeBytes: Number(textOf(each, 'Size') ?? 0),
      etag: unquote(textOf(each, 'ETag') ?? ''),
      modifiedMs: timeOf(textOf(each, 'LastModified')),
      ...(storageClass ? { storageClass } : {}),
    };
  });
  const folders = [...elementsOf(xml, 'CommonPrefixes')].map((each) =>
    decodeKey(textOf(each, 'Prefix') ?? ''),
  );
  const isTruncated = textOf(xml, 'IsTruncated') === 'true';
  return { objects, folders, continuation: isTruncated ? textOf(xml, 'NextContinuationToken') : undefined };
}
