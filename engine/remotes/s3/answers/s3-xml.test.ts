import { describe, expect, it } from 'vitest';
import { parseErrorBody } from './s3-xml.ts';

describe('An error body', () => {
  it('reads code, message and region', () => {
    const xml =
      '<Error><Code>PermanentRedirect</Code><Message>a &lt; b</Message><Region>eu-west-1</Region></Error>';
    expect(parseErrorBody(new TextEncoder().encode(xml))).toEqual({
      code: 'PermanentRedirect',
      message: 'a < b',
      region: 'eu-west-1',
    });
  });

  it('need not be XML', () => {
    const none = { code: undefined, message: undefined, region: undefined };
    expect(parseErrorBody(new Uint8Array())).toEqual(none);
    expect(parseErrorBody(new TextEncoder().encode('<html>Bad gateway<Code>'))).toEqual(none);
  });
});
