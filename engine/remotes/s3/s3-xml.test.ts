import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseErrorBody, parseListPage } from './s3-xml.ts';

const escapeXml = (text: string) =>
  text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`).replaceAll('&#38;', '&amp;');
const encodeForm = (text: string) => encodeURIComponent(text).replaceAll('%20', '+');

/** XML cannot hold most control characters at all; stores send keys with them only as URLs. */
const key = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !/\p{Cc}/u.test(text));
const listed = fc.record({ key, sizeBytes: fc.nat(), etag: fc.stringMatching(/^[0-9a-f]{32}(-\d{1,4})?$/) });

describe('A page of a list', () => {
  it('is read back from any keys, encoded or not', () => {
    fc.assert(
      fc.property(
        fc.array(listed),
        fc.array(key),
        fc.option(key),
        fc.boolean(),
        (objects, folders, next, isEncoded) => {
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
          expect(parseListPage(xml)).toEqual({
            objects: objects.map((object) => ({ ...object, modifiedMs })),
            folders,
            continuation: next ?? undefined,
          });
        },
      ),
    );
  });

  it('may be empty', () => {
    expect(parseListPage('<ListBucketResult><KeyCount>0</KeyCount></ListBucketResult>')).toEqual({
      objects: [],
      folders: [],
      continuation: undefined,
    });
  });
});

describe('An error body', () => {
  it('tells code, message and region', () => {
    const xml =
      '<Error><Code>PermanentRedirect</Code><Message>a &lt; b</Message><Region>eu-west-1</Region></Error>';
    expect(parseErrorBody(new TextEncoder().encode(xml))).toEqual({
      code: 'PermanentRedirect',
      message: 'a < b',
      region: 'eu-west-1',
    });
  });

  it('may be no XML at all', () => {
    const none = { code: undefined, message: undefined, region: undefined };
    expect(parseErrorBody(new Uint8Array())).toEqual(none);
    expect(parseErrorBody(new TextEncoder().encode('<html>Bad gateway<Code>'))).toEqual(none);
  });
});
