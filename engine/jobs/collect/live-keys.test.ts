import { describe, expect, it } from 'vitest';
import { hashOfText } from '../../repository/entries.fixture.ts';
import { LiveKeys } from './live-keys.ts';

const keyOf = (kind: string, text: string) => {
  const hash = hashOfText(text);
  return `${kind}/${hash.slice(0, 2)}/${hash.slice(2)}`;
};

describe('the set of live keys', () => {
  it('has what was added, and nothing else, while it grows', () => {
    const live = new LiveKeys();
    const count = 100_000;
    for (let at = 0; at < count; at += 1) expect(live.add(keyOf('objects', `${at}`))).toBe(true);
    expect(live.size).toBe(count);
    for (let at = 0; at < count; at += 1) {
      if (!live.has(keyOf('objects', `${at}`))) throw new Error(`${at} is gone`);
      if (live.has(keyOf('objects', `other ${at}`))) throw new Error(`other ${at} was never added`);
    }
    expect(live.add(keyOf('objects', '7'))).toBe(false);
    expect(live.size).toBe(count);
  });

  it('tells kinds and generations of one name apart', () => {
    const live = new LiveKeys();
    const key = keyOf('objects', 'a');
    live.add(`${key}.3`);
    for (const other of [key, `${key}.1`, `${key}.33`, keyOf('packs', 'a'), keyOf('manifests', 'a')])
      expect(live.has(other)).toBe(false);
    expect(live.has(`${key}.3`)).toBe(true);
  });

  it('takes names whose halves are zero', () => {
    const live = new LiveKeys();
    const zero = `objects/00/${'0'.repeat(62)}`;
    expect(live.has(zero)).toBe(false);
    live.add(zero);
    expect(live.has(zero)).toBe(true);
    expect(live.has(`packs/00/${'0'.repeat(62)}`)).toBe(false);
  });
});
