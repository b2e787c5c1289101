import { describe, expect, it } from 'vitest';
import { DrayError, type ErrorCode } from '../../api/error.ts';
import { openTreeIndex } from '../../index/tree-index.ts';
import { createSandbox } from '../session/job.fixture.ts';
import { optionalIndex } from './optional-index.ts';

const row = { path: 'a', tokens: ['s', 'd'], proof: 'content' } as const;
const upload = { uploadId: 'u', partSizeBytes: 5 };

/** An index whose file fails from a given moment on. */
function open(code: ErrorCode) {
  const sandbox = createSandbox();
  const { index } = openTreeIndex({ folder: sandbox.folder, pair: ['here', 'there'] });
  let fails = false;
  let calls = 0;
  const failing = new Proxy(index, {
    get(target, name: keyof typeof index) {
      const value = target[name];
      if (typeof value !== 'function' || name === 'close') return value;
      return (...parameters: never[]) => {
        calls += 1;
        if (fails) throw new DrayError(code, 'No more.');
        return (value as (...all: never[]) => unknown)(...parameters);
      };
    },
  });
  const reported: string[] = [];
  return {
    index: optionalIndex(failing, ({ message }) => reported.push(message)),
    reported,
    fail: () => {
      fails = true;
    },
    calls: () => calls,
    [Symbol.dispose]: () => {
      index.close();
      sandbox[Symbol.dispose]();
    },
  };
}

describe('An optional index', () => {
  it('does what the index does', () => {
    using opened = open('diskFull');
    const { index, reported } = opened;
    index.put([row]);
    index.uploads.save('a', upload);
    index.putBlocks('a', { token: 'd', blockBytes: 5, sums: [1n] });
    expect(index.find('a')).toEqual(row);
    expect(index.page('')).toEqual([row]);
    expect(index.uploads.load('a')).toEqual(upload);
    expect(index.blocks('a')).toMatchObject({ token: 'd' });
    index.remove(['a']);
    index.uploads.forget('a');
    expect([index.find('a'), index.uploads.load('a'), index.blocks('a')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(reported).toEqual([]);
  });

  it.each(['diskFull', 'io', 'locked', 'damaged'] as const)(
    'is not used after the first failure of its file (%s), which is reported once',
    (code) => {
      using opened = open(code);
      const { index, reported } = opened;
      index.put([row]);
      opened.fail();
      expect(index.find('a')).toBeUndefined();
      const asked = opened.calls();
      index.put([row]);
      index.remove(['a']);
      expect(index.page('')).toEqual([]);
      expect(opened.calls()).toBe(asked);
      expect(reported).toEqual(['No more.']);
    },
  );

  it('throws when a list fails that is not a cache, such as the list of deletions', () => {
    using opened = open('diskFull');
    opened.fail();
    expect(() => opened.index.spill()).toThrow(expect.objectContaining({ code: 'diskFull' }));
  });
});
