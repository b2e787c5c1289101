import { describe, expect, it } from 'vitest';
import {
  below,
  crumbsOf,
  describeLocation,
  localLocation,
  parentOf,
  placeOf,
  refuseFolderName,
  remoteRoot,
} from './places.ts';

describe('A place of a pane', () => {
  it('is a path on this computer, with forward slashes on every system', () => {
    expect(placeOf(localLocation('/home/ada'), 'a.txt')).toBe('/home/ada/a.txt');
    expect(placeOf(localLocation('/'))).toBe('/');
    expect(placeOf(localLocation('C:\\Users\\ada'))).toBe('C:/Users/ada/');
  });

  it('keeps every character of a path below a named remote', () => {
    const root = remoteRoot({ name: 'lab', url: 's3://bucket', of: 'user' });
    expect(placeOf({ root, folder: 'a b/' }, '50%?.txt')).toBe('lab:a b/50%?.txt');
  });

  it('encodes a path below a URL and leaves the parameters at its end', () => {
    const root = remoteRoot({ name: 'lab', url: 's3://bucket/p?endpoint=http://h:1', of: '/work' });
    expect(placeOf({ root, folder: 'a b/' }, '50%?.txt')).toBe(
      's3://bucket/p/a%20b/50%25%3F.txt?endpoint=http://h:1',
    );
    expect(placeOf({ root: remoteRoot({ name: 'x', url: '/srv/x', of: '/work' }), folder: 'a b/' })).toBe(
      '/srv/x/a b/',
    );
  });

  it('reads as people write it', () => {
    expect(describeLocation(below(localLocation('/home/ada'), 'data/'))).toBe('/home/ada/data/');
    const root = remoteRoot({ name: 'lab', url: 's3://bucket', of: 'user' });
    expect(describeLocation({ root, folder: 'a b/' })).toBe('lab:a b/');
    const linked = { kind: 'url', label: 's3://bucket/p', url: 's3://bucket/p?region=x' } as const;
    expect(describeLocation({ root: linked, folder: 'a/' })).toBe('s3://bucket/p/a/');
  });

  it('leads down and up again', () => {
    const start = localLocation('/home/ada');
    const down = below(below(start, 'data/'), 'raw');
    expect(placeOf(down)).toBe('/home/ada/data/raw/');
    expect(parentOf(parentOf(down)!)).toEqual(start);
    expect(parentOf(localLocation('/'))).toBeUndefined();
    expect(crumbsOf(down).map((crumb) => crumb.name)).toEqual(['/', 'home', 'ada', 'data', 'raw']);
  });

  it('refuses names that no folder can have', () => {
    const taken = new Set(['raw']);
    for (const name of ['', '.', '..', 'a/b', 'a\\b', 'raw'])
      expect(refuseFolderName(name, taken)).toBeTypeOf('string');
    expect(refuseFolderName('raw 2', taken)).toBeUndefined();
  });
});
