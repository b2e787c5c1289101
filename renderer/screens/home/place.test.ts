import { describe, expect, it } from 'vitest';
import { fileUrl, lastName, NO_PLACE, urlOfPlace } from './place.ts';

describe('the place of a workspace', () => {
  it('has no URL until it is complete', () => {
    for (const kind of ['folder', 's3', 'other'] as const)
      expect(urlOfPlace({ ...NO_PLACE, kind, folder: ' ', bucket: '' })).toBeUndefined();
  });

  it('is a folder of any system, with names that URLs write otherwise', () => {
    expect(fileUrl('/media/ada/my disk #1')).toBe('file:///media/ada/my%20disk%20%231');
    expect(fileUrl('C:\\data\\x')).toBe('file:///C:/data/x');
    expect(fileUrl('\\\\server\\share\\x')).toBe('file://server/share/x');
  });

  it('is a bucket, below a prefix, at an endpoint', () => {
    const place = { ...NO_PLACE, kind: 's3' as const, bucket: 'lab', prefix: '/north/', endpoint: '' };
    expect(urlOfPlace(place)).toBe('s3://lab/north');
    expect(urlOfPlace({ ...place, endpoint: 'https://s3.example.org' })).toBe(
      's3://lab/north?endpoint=https%3A%2F%2Fs3.example.org',
    );
  });

  it('has a last name', () => {
    expect(lastName('s3://lab/north?endpoint=x')).toBe('north');
    expect(lastName('C:\\data\\x\\')).toBe('x');
  });
});
