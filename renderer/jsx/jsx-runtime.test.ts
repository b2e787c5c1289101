import { describe, expect, it } from 'vitest';
import { jsx, jsxs } from './jsx-runtime.ts';

const propsOf = (element: unknown) =>
  (element as { readonly props: Readonly<Record<string, unknown>> }).props;

describe('an element of the window', () => {
  it('shows unsafe characters in texts and names as escapes, also deep in lists', () => {
    const inner = jsx('b', { children: 'safe' });
    const element = jsxs('p', {
      ...{ title: 'a\u202eb', 'aria-label': 'a\u2066b', className: 'a\u202eb', value: 'a\u202eb' },
      children: ['\u001b[2J', 7, inner, [['\u200f']], undefined],
    });
    expect(propsOf(element)).toEqual({
      ...{ title: 'a\\u202eb', 'aria-label': 'a\\u2066b', className: 'a\u202eb', value: 'a\u202eb' },
      children: ['\\u001b[2J', 7, inner, [['\\u200f']], undefined],
    });
  });

  it('keeps line breaks and tabs, and its props if nothing is unsafe', () => {
    const props = { title: 'a name', children: ['one\n\ttwo', jsx('b', {})] };
    expect(propsOf(jsxs('pre', props))).toBe(props);
  });
});
