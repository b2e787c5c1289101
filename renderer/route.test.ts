import { describe, expect, it } from 'vitest';
import { hrefOf, parseRoute, SCREEN_NAMES } from './route.ts';

describe('the route in the hash', () => {
  it('comes back as it was written, with names that need escapes', () => {
    for (const screen of SCREEN_NAMES) {
      const given = { path: 'a&b=c #1/ü?.txt', root: 'C:\\data\\x' };
      expect(parseRoute(hrefOf(screen, given))).toEqual({ screen, given });
    }
  });

  it('is Home where nothing or nonsense stands', () => {
    for (const hash of ['', '#', '#/', '#/nowhere', '#/__proto__?a=1'])
      expect(parseRoute(hash).screen).toBe('home');
  });
});
