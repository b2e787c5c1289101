import { describe, expect, it } from 'vitest';
import { PAGE_HEADERS, pageTypeOf } from './window-page.ts';

describe('the policy of the window', () => {
  it('allows its own files and connections to its own origin, and nothing else', () => {
    const policy = PAGE_HEADERS['content-security-policy'].split('; ').map((rule) => rule.split(' '));
    expect(Object.fromEntries(policy.map(([name, ...sources]) => [name, sources]))).toEqual({
      'default-src': ["'none'"],
      'script-src': ["'self'"],
      'style-src': ["'self'", expect.stringMatching(/^'sha256-/), expect.stringMatching(/^'sha256-/)],
      'img-src': ["'self'", 'data:', 'blob:'],
      'media-src': ['blob:'],
      'font-src': ["'self'"],
      'connect-src': ["'self'"],
      'base-uri': ["'none'"],
      'form-action': ["'none'"],
      'frame-ancestors': ["'none'"],
    });
  });
});

describe('the type of a file', () => {
  it('is known for every kind of file in a built window, and never guessed', () => {
    expect(pageTypeOf('/assets/main-1a2b.js')).toBe('text/javascript; charset=utf-8');
    expect(pageTypeOf('/assets/data.unknown')).toBe('application/octet-stream');
  });
});
