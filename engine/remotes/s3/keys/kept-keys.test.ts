import { describe, expect, it } from 'vitest';
import { isAccessKeys, keptKeysOf, withKeptKeys } from './kept-keys.ts';

const LAB = { accessKeyId: 'AK', secretAccessKey: 'secret' };
const TEMPORARY = { ...LAB, sessionToken: 'session' };

describe('saved keys', () => {
  it('pass through the environment by profile, and newer ones replace older ones', () => {
    const first = withKeptKeys({ HOME: '/h' }, { lab: LAB, other: LAB });
    expect(first.HOME).toBe('/h');
    expect(keptKeysOf(withKeptKeys(first, { lab: TEMPORARY }))).toEqual(
      new Map([
        ['lab', TEMPORARY],
        ['other', LAB],
      ]),
    );
    expect(keptKeysOf({})).toEqual(new Map());
  });

  it('are ignored when they are invalid', () => {
    for (const text of ['', '{', 'null', '5', '[]', '{"lab":5}', '{"lab":{"accessKeyId":"AK"}}'])
      expect(keptKeysOf({ DRAY_KEPT_KEYS: text })).toEqual(new Map());
    for (const value of [null, 'x', { ...LAB, secretAccessKey: '' }, { ...LAB, sessionToken: 5 }])
      expect(isAccessKeys(value)).toBe(false);
  });
});
