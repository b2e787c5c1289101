import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createDigestThreads, type DigestAlgorithm, openDigest } from './digest-threads.ts';

const { signal } = new AbortController();

const noise = (length: number, seed: number) => {
  const bytes = new Uint8Array(new SharedArrayBuffer(length));
  for (let at = 0; at < length; at += 1) bytes[at] = Math.imul(at + seed, 2_654_435_761) >>> 24;
  return bytes;
};

describe('digests in threads', () => {
  it.each(['md5', 'sha256'] as const)('are those of all bytes in order (%s)', async (algorithm) => {
    const threads = createDigestThreads(signal, 2);
    const contents = Array.from({ length: 7 }, (_, index) => noise(10_000 * index + 3, index));
    const ofOne = async (bytes: Uint8Array) => {
      const digest = threads.open(algorithm);
      for (let at = 0; at < bytes.length; at += 4_096) await digest.update(bytes.subarray(at, at + 4_096));
      return digest.end();
    };
    expect(await Promise.all(contents.map(ofOne))).toEqual(contents.map((bytes) => whole(algorithm, bytes)));
    await threads.close();
  });

  it('are those of all bytes when pieces of many digests are in flight, of whatever length', async () => {
    const threads = createDigestThreads(signal, 1);
    const lengths = [0, 1, 55, 56, 63, 64, 65, 119, 128, 1_000, 40_000, 70_001];
    const digests = lengths.map((length, index) => {
      const bytes = noise(length, index);
      const digest = threads.open('md5');
      const cuts = [0, 3, 64, 129, 33_000].map((cut) => Math.min(cut, length));
      const updates = cuts.map((cut, at) => digest.update(bytes.subarray(cut, cuts[at + 1] ?? length)));
      const ended = digest.end();
      return Promise.all(updates).then(() => ended);
    });
    expect(await Promise.all(digests)).toEqual(
      lengths.map((length, index) => whole('md5', noise(length, index))),
    );
    await threads.close();
  });

  it('equal those of the own thread', async () => {
    const digest = openDigest('md5');
    digest.update(noise(5_000, 1));
    digest.update(noise(5_000, 2));
    const both = Buffer.concat([noise(5_000, 1), noise(5_000, 2)]);
    expect(Buffer.from(await digest.end())).toEqual(Buffer.from(whole('md5', both)));
  });

  it('start no thread before one is needed, and end all of them', async () => {
    const threads = createDigestThreads(signal, 3);
    await threads.close();
    const one = createDigestThreads(signal, 1);
    const left = one.open('md5');
    await left.update(noise(100, 1));
    // An abandoned digest does not delay anything.
    await one.close();
  });
});

function whole(algorithm: DigestAlgorithm, bytes: Uint8Array): Uint8Array {
  return new Uint8Array(createHash(algorithm).update(bytes).digest());
}
