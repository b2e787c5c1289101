import { describe, expect, it } from 'vitest';
import { requestHead } from './http-request-head.ts';

const headOf = (name: string) =>
  requestHead({ method: 'GET', path: '/', headers: { [name]: 'value' }, signal: undefined }, 'host');

describe('The head of a request', () => {
  it('may have headers of any name that HTTP allows', () => {
    for (const name of ['x-amz-meta-org.example', "x-amz-meta-!#$%&'*+^`|~_0"])
      expect(headOf(name).split('\r\n')).toContain(`${name}: value`);
  });

  it.each(['', 'x a', 'x:a', 'x(a)', 'x"a"', 'x/a', 'x\u00e9', 'x\r\ny'])(
    'refuses the header name "%s"',
    (name) => {
      expect(() => headOf(name)).toThrow(TypeError);
    },
  );
});
