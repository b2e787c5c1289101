import { describe, expect, it } from 'vitest';
import {
  below,
  crumbsOf,
  describeLocation,
  isFixed,
  isTypable,
  linkedRoot,
  localLocation,
  parentOf,
  placeOf,
  refuseFolderName,
  remoteRoot,
  rootKey,
  rootsOf,
  versionOf,
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

  it('is a part of a version, by the name or the URL of its repository', () => {
    const named = versionOf('birds', 'v1');
    expect(placeOf({ root: named, folder: 'a b/' }, '1.txt')).toBe('birds@v1:a b/1.txt');
    const url = versionOf('s3://data/birds?region=x', 'main');
    const place = placeOf({ root: url, folder: 'a b/' });
    expect(place).toBe('s3://data/birds?region=x&ref=main&path=a+b%2F');
    expect(describeLocation({ root: url, folder: 'a b/' })).toBe('birds@main:a b/');
    expect(placeOf({ root: versionOf('/srv/50% birds', 'main'), folder: '' })).toBe(
      'file:///srv/50%25%20birds?ref=main&path=',
    );
    for (const root of [named, url]) expect(linkedRoot([], rootKey(root))).toEqual(root);
    expect(isFixed({ root: url, folder: '' })).toBe(true);
  });

  it('is shown as people write it', () => {
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
    for (const name of ['', '.', '..', 'a/b', 'a\\b']) expect(refuseFolderName(name)).toBeTypeOf('string');
    expect(refuseFolderName('raw 2')).toBeUndefined();
  });

  it('must be typed to be deleted, if it can be typed', () => {
    for (const name of ['a.txt', 'raw 2', 'Größe (1).png', '写真']) expect(isTypable(name), name).toBe(true);
    for (const name of ['', 'a\nb', 'a\tb', ' a', 'a ', 'exe\u202Egpj.a', 'a\u200Bb', '\uD800'])
      expect(isTypable(name), JSON.stringify(name)).toBe(false);
  });
});

describe('The roots of a pane', () => {
  const local = localLocation('/home/ada').root;
  const shared = 's3://lab/data?region=x';

  it('name each place once, however many workspaces have it, and distinguish places of the same name', () => {
    const roots = rootsOf(local, [
      { name: 'lab', url: shared, of: 'user' },
      { name: 'origin', url: shared, of: '/work/first' },
      { name: 'backup', url: '/media/disk', of: '/work/first' },
      { name: 'origin', url: shared, of: '/work/second' },
      { name: 'origin', url: 's3://other', of: '/work/third' },
      { name: 'origin', url: 's3://another', of: '/elsewhere/third' },
    ]);
    expect(roots.map(({ label }) => label)).toEqual([
      'This computer',
      'lab',
      'origin',
      'backup',
      'origin of third',
      'origin of /elsewhere/third',
    ]);
    expect(new Set(roots.map(rootKey)).size).toBe(roots.length);
  });

  it('contain the place of a link once, also if it is a known one', () => {
    const roots = rootsOf(local, [{ name: 'origin', url: shared, of: '/work/first' }]);
    expect(linkedRoot(roots, shared)).toBe(roots[1]);
    expect(linkedRoot(roots, 's3://elsewhere/p?region=x')).toEqual({
      kind: 'url',
      label: 's3://elsewhere/p',
      url: 's3://elsewhere/p?region=x',
    });
  });

  it('lead to a named remote from a link, to its root and below', () => {
    const roots = rootsOf(local, [{ name: 'lab', url: 's3://lab', of: 'user' }]);
    expect(linkedRoot(roots, 'lab:')).toBe(roots[1]);
    const other = linkedRoot(roots, 'nas-2:');
    expect(placeOf({ root: other, folder: '' })).toBe('nas-2:');
    expect(placeOf({ root: linkedRoot(roots, 'lab:a/b'), folder: 'c/' })).toBe('lab:a/b/c/');
  });
});
