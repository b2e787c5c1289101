import { describe, expect, it } from 'vitest';
import { readVersionsPage } from './s3-versions-page.ts';

const SECOND = '2026-01-01T00:00:00.000Z';

interface Row {
  readonly key: string;
  readonly id: string;
  readonly time?: string;
  readonly isLatest?: boolean;
}

const fields = ({ id, isLatest = false, key, time = SECOND }: Row) =>
  `<Key>${key}</Key><VersionId>${id}</VersionId><IsLatest>${isLatest}</IsLatest><LastModified>${time}</LastModified>`;
const version = (row: Row) =>
  `<Version>${fields(row)}<ETag>&#34;e&#34;</ETag><Size>3</Size><Owner><ID>o</ID></Owner></Version>`;
const deletion = (row: Row) => `<DeleteMarker>${fields(row)}</DeleteMarker>`;
const page = (...parts: readonly string[]) =>
  `<?xml version="1.0"?>\n<ListVersionsResult xmlns="x">${parts.join('')}</ListVersionsResult>\n`;
const idsOf = (...parts: readonly string[]) =>
  readVersionsPage(page(...parts)).versions.map(({ versionId }) => versionId);

describe('a page of versions', () => {
  it('has versions, deletions and where the next page begins', () => {
    const { next, versions } = readVersionsPage(
      page(
        '<EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>',
        '<NextKeyMarker>b%2Bc+d</NextKeyMarker><NextVersionIdMarker>7</NextVersionIdMarker>',
        version({ key: 'a%26b', id: 'null', isLatest: true }),
        deletion({ key: 'b%2Bc+d', id: '7' }),
      ),
    );
    const modifiedMs = Date.parse(SECOND);
    expect(versions).toEqual([
      { key: 'a&b', versionId: 'null', isLatest: true, modifiedMs, content: { sizeBytes: 3, etag: 'e' } },
      { key: 'b+c d', versionId: '7', isLatest: false, modifiedMs },
    ]);
    expect(next).toEqual({ key: 'b+c d', versionId: '7' });
    expect(readVersionsPage(page())).toEqual({ versions: [], next: undefined });
  });

  it('keeps the order of the store where times are equal, or that of an upload in parts is earlier', () => {
    const latest = version({ key: 'a', id: '4', time: '2026-01-02T00:00:00.000Z', isLatest: true });
    const put = (id: string, time = SECOND) => version({ key: 'a', id, time });
    const remove = (id: string, time = SECOND) => deletion({ key: 'a', id, time });
    expect(idsOf(latest, remove('3'), put('2'), remove('1'))).toEqual(['4', '3', '2', '1']);
    const early = '2025-12-31T23:00:00.000Z';
    expect(idsOf(latest, put('3', early), remove('2'), put('1'))).toEqual(['4', '3', '2', '1']);
  });

  it('puts deletions where they belong if the store lists them first, by time and by the ids of versitygw', () => {
    const deletions = [deletion({ key: 'a', id: '3' }), deletion({ key: 'b', id: '5', isLatest: true })];
    const versions = [
      version({ key: 'a', id: '4', isLatest: true }),
      version({ key: 'a', id: '2', time: '2025-12-31T00:00:00.000Z' }),
      version({ key: 'b', id: '1' }),
    ];
    expect(idsOf(...deletions, ...versions)).toEqual(['4', '3', '2', '5', '1']);
    // Its versions have whole seconds, its deletions the time at which something took their place.
    const [first, second, third, last] = ['FN', 'FQ', 'FR', 'HJ'].map(
      (part) => `01M8DY4${part}1GTD7WC8D39M7DTX5`,
    );
    const late = '2026-01-01T00:00:02.678Z';
    expect(
      idsOf(
        deletion({ key: 'a', id: second!, time: late }),
        version({ key: 'a', id: last!, isLatest: true }),
        version({ key: 'a', id: third! }),
        version({ key: 'a', id: first! }),
      ),
    ).toEqual([last, third, second, first]);
  });

  it('is refused if it was cut short', () => {
    expect(() => readVersionsPage(page().slice(0, 60))).toThrow(/did not list all/);
    expect(() => readVersionsPage(page('<IsTruncated>true</IsTruncated>'))).toThrow(/names no next page/);
  });
});
