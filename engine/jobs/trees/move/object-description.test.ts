import { beforeAll, describe, expect, it } from 'vitest';
import { formatObjectTime, parseObjectTime } from '../../../model/object-time.ts';
import { contentTypeOf, loadContentTypes } from './object-content-type.ts';
import { describeFile, describeObject, wantsOtherDescription } from './object-description.ts';

beforeAll(loadContentTypes);

const MTIME_NS = 1_700_000_000_123_456_789n;
const info = { key: 'k', sizeBytes: 1, etag: 'e', modifiedMs: 1_600_000_000_500 };

describe('An object from a file', () => {
  it("has the file's time to the nanosecond, and the type of its name", () => {
    const { contentType, metadata } = describeFile({}, { path: 'a/b.json', mtimeNs: MTIME_NS });
    expect(contentType).toBe('application/json');
    expect(parseObjectTime(metadata!.mtime!)).toBe(MTIME_NS);
    expect(['x', 'x.unheardof', 'a.json/x'].map(contentTypeOf)).toEqual(
      Array(3).fill('application/octet-stream'),
    );
    expect(contentTypeOf('PHOTO.JPG')).toBe('image/jpeg');
  });

  it('has the requested metadata besides, but keeps its own time', () => {
    const wishes = { contentType: 'x/y', metadata: { owner: 'me', mtime: '1' }, storageClass: 'STANDARD_IA' };
    expect(describeFile(wishes, { path: 'b.json', mtimeNs: MTIME_NS })).toEqual({
      contentType: 'x/y',
      metadata: { owner: 'me', mtime: formatObjectTime(MTIME_NS) },
      storageClass: 'STANDARD_IA',
    });
  });
});

describe('An object from another store', () => {
  it('keeps all of its description', () => {
    const described = {
      contentType: 'text/x',
      cacheControl: 'no-store',
      contentDisposition: 'inline',
      contentEncoding: 'gzip',
      contentLanguage: 'de',
      metadata: { mtime: '5.25', owner: 'me' },
    };
    expect(describeObject({}, { ...info, ...described })).toEqual(described);
  });

  it('gets its upload time if it has no other, and no content type if it had none', () => {
    expect(describeObject({}, info)).toEqual({ metadata: { mtime: '1600000000.5' } });
  });

  it('prefers the requested description', () => {
    const wishes = { contentType: 'x/y', metadata: { owner: 'you' }, storageClass: 'GLACIER' };
    const had = { ...info, contentType: 'text/x', metadata: { mtime: '5', owner: 'me', kept: 'yes' } };
    expect(describeObject(wishes, had)).toEqual({
      contentType: 'x/y',
      metadata: { mtime: '5', owner: 'you', kept: 'yes' },
      storageClass: 'GLACIER',
    });
    expect(
      [{}, { storageClass: 'x' }, { contentType: 'x' }, { metadata: {} }].map(wantsOtherDescription),
    ).toEqual([false, false, true, true]);
  });
});
