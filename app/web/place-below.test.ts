import { describe, expect, it } from 'vitest';
import { placeBelow } from '../../engine/jobs/places/place-below.ts';
import { openerOf } from './open-browser.ts';

describe('a place below another', () => {
  it.each([
    ['/data', 'a/b.txt', '/data/a/b.txt'],
    ['/data/', '100%?.txt', '/data/100%?.txt'],
    ['C:\\data', 'b.txt', 'C:\\data/b.txt'],
    ['C:\\data\\', 'b.txt', 'C:\\data\\b.txt'],
    ['s3://bucket', 'b.txt', 's3://bucket/b.txt'],
    [
      's3://bucket/p/?endpoint=http://127.0.0.1:1',
      'b.txt',
      's3://bucket/p/b.txt?endpoint=http://127.0.0.1:1',
    ],
    ['s3://bucket/p', '100%?#.txt', 's3://bucket/p/100%25%3F%23.txt'],
    ['dray://host:7370/p', 'b', 'dray://host:7370/p/b'],
    ['birds:', 'b.txt', 'birds:b.txt'],
    ['birds:2024', '100%.txt', 'birds:2024/100%.txt'],
  ])('%s and %s are %s', (place, path, expected) => {
    expect(placeBelow(place, path)).toBe(expected);
  });
});

describe('the program that opens a link', () => {
  it('is never a shell, on any system', () => {
    const url = 'http://127.0.0.1:7371/?t=a&b';
    expect(openerOf(url, 'linux')).toEqual({ command: 'xdg-open', parameters: [url] });
    expect(openerOf(url, 'darwin')).toEqual({ command: 'open', parameters: [url] });
    expect(openerOf(url, 'win32').parameters).toEqual(['url.dll,FileProtocolHandler', url]);
  });
});
