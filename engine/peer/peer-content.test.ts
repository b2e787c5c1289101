import { symlinkSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { crc64Nvme } from '../checksums/crc64-nvme.ts';
import { getPeerFile, headPeerFile, readPeerFile } from '../remotes/peer/peer-files.ts';
import { noise, startTestPeer, type TestPeer } from './peer.fixture.ts';

const { signal } = new AbortController();
const content = noise(1_200_000, 3);
let peer: TestPeer;
beforeAll(async () => {
  peer = await startTestPeer();
  peer.write('a \u00e4&+/file.bin', content);
  peer.write('empty', '');
  symlinkSync('/etc/passwd', peer.path('out'));
});
afterAll(async () => {
  await peer?.[Symbol.asyncDispose]();
});
const PATH = 'a \u00e4&+/file.bin';
const route = (path: string) => `content?${new URLSearchParams({ path })}`;

describe('the content of a file', () => {
  it('comes in full, by ranges, and not at all for HEAD', async () => {
    const whole = await peer.send('GET', route(PATH));
    expect(whole.status).toBe(200);
    expect(Buffer.from(await whole.arrayBuffer()).equals(content)).toBe(true);
    const part = await peer.send('GET', route(PATH), { headers: { range: 'bytes=600000-1999999' } });
    expect([part.status, part.headers.get('content-range')]).toEqual([206, 'bytes 600000-1199999/1200000']);
    expect(Buffer.from(await part.arrayBuffer()).equals(content.subarray(600_000))).toBe(true);
    const head = await peer.send('HEAD', route(PATH));
    expect([head.headers.get('content-length'), await head.text()]).toEqual(['1200000', '']);
    expect(await (await peer.send('GET', route('empty'))).text()).toBe('');
  });

  it('is refused for invalid ranges', async () => {
    for (const [range, status] of [
      ['bytes=5-2', 416],
      ['bytes=1200000-1200001', 416],
      ['bytes=-5', 400],
      ['bytes=0-1,4-5', 400],
      ['lines=0-1', 400],
    ] as const)
      expect((await peer.send('GET', route(PATH), { headers: { range } })).status, range).toBe(status);
    expect((await peer.send('GET', route('empty'), { headers: { range: 'bytes=0-0' } })).status).toBe(416);
  });

  it('has its checksum on request, and reports a change', async () => {
    const info = await headPeerFile(peer.client, PATH, { checksums: true, signal });
    expect(info).toMatchObject({ sizeBytes: content.length, crc64: crc64Nvme(content) });
    const part = { range: { start: 7, end: 17 }, maxBytes: 10, signal };
    const read = await readPeerFile(peer.client, PATH, { ...part, ifMatch: info!.etag });
    expect(Buffer.from(read!.bytes)).toEqual(content.subarray(7, 17));
    await expect(readPeerFile(peer.client, PATH, { ...part, ifMatch: 'another' })).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  it('is not found if there is no file, and refused behind a link', async () => {
    expect(await headPeerFile(peer.client, 'absent', { checksums: false, signal })).toBeUndefined();
    expect(await getPeerFile(peer.client, 'a \u00e4&+', { signal })).toBeUndefined();
    await expect(headPeerFile(peer.client, 'out', { checksums: false, signal })).rejects.toMatchObject({
      code: 'unsafePath',
      message: expect.stringContaining('out is refused: it is a symbolic link'),
    });
  });

  it('ends early if the file changes while it is sent', async () => {
    const large = noise(64 * 1024 * 1024, 4);
    peer.write('changing', large);
    const read = await getPeerFile(peer.client, 'changing', { signal });
    let isChanged = false;
    const readAll = async () => {
      for await (const _ of read!.body) {
        if (!isChanged) peer.write('changing', large.subarray(1));
        isChanged = true;
      }
    };
    await expect(readAll()).rejects.toMatchObject({ code: 'unreachable', retry: 'retry' });
  });
});
