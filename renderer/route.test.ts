import { describe, expect, it } from 'vitest';
import { hrefOf, parseRoute, SCREEN_NAMES } from './route.ts';

describe('the route in the hash', () => {
  it('survives a round trip, with names that need escapes', () => {
    for (const screen of SCREEN_NAMES) {
      const given = { path: 'a&b=c #1/ü?.txt', root: 'C:\\data\\x' };
      expect(parseRoute(hrefOf(screen, given))).toEqual({ screen, given });
    }
  });

  it('is Home if the hash is empty or invalid', () => {
    for (const hash of ['', '#', '#/', '#/nowhere', '#/__proto__?a=1'])
      expect(parseRoute(hash).screen).toBe('home');
  });
});
