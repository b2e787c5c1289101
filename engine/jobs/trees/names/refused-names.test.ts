import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../../remotes/memory/memory-store.fixture.ts';
import type { LocalSide, RemoteSide } from '../sides.ts';
import { nameRefuser } from './refused-names.ts';

const item = (path: string) => ({ path, kind: 'object', sizeBytes: 1, token: '', modifiedMs: 0 }) as const;
const folder = { kind: 'local', root: '/r', text: 'r', pathOf: (path: string) => path } satisfies LocalSide;
const store = (keyPrefix: string) =>
  ({
    kind: 'remote',
    store: { ...createMemoryStore(), place: { service: 's', bucket: 'b', keyPrefix } },
  }) as unknown as RemoteSide;

describe('A local destination', () => {
  const refuse = nameRefuser(folder, 'linux');

  it.each(['/a', '../a', 'a/../../b', 'a//b', 'a/', '', 'a/./b', 'a\0b', '.dray/x', 'x/.DRAY/y'])(
    'refuses %j by name, with an error of that item',
    (path) => {
      expect(refuse(item(path))).toMatchObject({ code: 'unsafePath', data: { path } });
    },
  );

  it("accepts its own system's names", () => {
    for (const path of ['a:b', 'con', 'a\\b', 'a.', '...', '-', ' '])
      expect(refuse(item(path)), path).toBeUndefined();
    const windows = nameRefuser(folder, 'win32');
    for (const path of ['a:b', 'con', 'a\\b', 'a.', 'lpt1.txt'])
      expect(windows(item(path)), path).toBeDefined();
  });
});

describe('A store as destination', () => {
  it('accepts keys of 1,024 bytes, counted with the prefix and in UTF-8', () => {
    for (const [prefix, letter, bytes] of [
      ['', 'a', 1],
      ['pre/fix/', 'a', 1],
      ['', '\u00e9', 2],
      ['p/', '\u{1f600}', 4],
    ] as const) {
      const refuse = nameRefuser(store(prefix));
      const most = Math.floor((1024 - prefix.length) / bytes);
      expect(refuse(item(letter.repeat(most)))).toBeUndefined();
      expect(refuse(item(letter.repeat(most + 1)))).toMatchObject({ code: 'unsafePath' });
    }
  });

  it('counts the bytes of a prefix that is not ASCII', () => {
    const refuse = nameRefuser(store('\u00e9'.repeat(500)));
    expect(refuse(item('a'.repeat(24)))).toBeUndefined();
    expect(refuse(item('a'.repeat(25)))).toMatchObject({ code: 'unsafePath' });
  });
});
