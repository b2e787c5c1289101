import { describe, expect, it } from 'vitest';
import { createPayloadCodec, parsePayloadKey } from './payload-codec.ts';

const payload = {
  metadata: { encoding: Buffer.from('json/plain') },
  data: Buffer.from('"s3://bucket/secret-name"'),
};
const codecOf = (digit: string) => createPayloadCodec(parsePayloadKey(`${digit.repeat(64)}\n`, 'key'));

describe('the codec of payloads', () => {
  it('hides the content, and gives the same content back', async () => {
    const codec = codecOf('a');
    const [encrypted] = await codec.encode([payload]);
    expect(Buffer.from(encrypted!.data!).includes('secret-name')).toBe(false);
    const [plain] = await codec.decode([encrypted!]);
    expect(plain).toEqual(payload);
  });

  it('gives the same payload another form each time', async () => {
    const [one, other] = await codecOf('a').encode([payload, payload]);
    expect(one).not.toEqual(other);
  });

  it('refuses a payload that was changed, or encrypted with another key', async () => {
    const [encrypted] = await codecOf('a').encode([payload]);
    await expect(codecOf('b').decode([encrypted!])).rejects.toMatchObject({ code: 'usage' });
    const changed = Buffer.from(encrypted!.data!);
    changed[20]! ^= 1;
    await expect(codecOf('a').decode([{ ...encrypted!, data: changed }])).rejects.toMatchObject({
      code: 'usage',
    });
  });

  it('reads payloads of before there was a key', async () => {
    expect(await codecOf('a').decode([payload])).toEqual([payload]);
  });

  it('refuses a file that holds no key', () => {
    expect(() => parsePayloadKey('too short', '/keys/fleet')).toThrow('/keys/fleet holds no key');
  });
});
