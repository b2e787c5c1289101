import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Budget } from '../base/budget.ts';
import { systemClock } from '../base/clock.ts';
import { crc64Nvme, formatCrc64 } from '../checksums/crc64-nvme.ts';
import { createPeerFileStore } from '../remotes/peer/peer-file-store.ts';
import {
  type BeginUpload,
  beginPeerUpload,
  completePeerUpload,
  discardPeerUpload,
  putPeerRange,
} from '../remotes/peer/peer-files.ts';
import { withRetry } from '../remotes/wrappers/with-retry.ts';
import { budgetedMemory } from '../transfer/upload/budgeted-memory.ts';
import { uploadInParts } from '../transfer/upload/multipart-upload.ts';
import { partSizeFor } from '../transfer/upload/part-size.ts';
import { bytesSource, KEY, uploadOf } from '../transfer/upload/upload.fixture.ts';
import { noise, startTestPeer, type TestPeer } from './peer.fixture.ts';

const KIB = 1024;
const RANGE = 64 * KIB;
const { signal } = new AbortController();

let peer: TestPeer;
beforeEach(async () => {
  peer = await startTestPeer();
});
afterEach(async () => {
  await peer?.[Symbol.asyncDispose]();
});

const content = noise(3 * RANGE + 100, 1);
const file: BeginUpload = {
  path: 'folder/large.bin',
  sizeBytes: content.length,
  mtimeNs: 1_500_000_000_123_456_789n,
  mode: 0o640,
  content: 'one',
  rangeBytes: RANGE,
};
const begin = (more: Partial<BeginUpload> = {}) => beginPeerUpload(peer.client, { ...file, ...more }, signal);
const put = (upload: Awaited<ReturnType<typeof begin>>, start: number, from = content) =>
  putPeerRange(peer.client, { upload, start, bytes: from.subarray(start, start + RANGE) }, signal);
const complete = (
  upload: Awaited<ReturnType<typeof begin>>,
  whole: Parameters<typeof completePeerUpload>[2] = {},
) => completePeerUpload(peer.client, upload, whole, signal);
const sent = () => readFileSync(peer.path(file.path));

async function putAll(upload: Awaited<ReturnType<typeof begin>>, from = content): Promise<void> {
  for (let start = 0; start < from.length; start += RANGE)
    if (!upload.received.has(start)) await put(upload, start, from);
}

describe('an upload', () => {
  it('puts the file in its place with time and mode, and leaves nothing else', async () => {
    const upload = await begin();
    for (const start of [2 * RANGE, 0, 3 * RANGE, RANGE]) await put(upload, start);
    expect(existsSync(peer.path(file.path))).toBe(false);
    await complete(upload, { crc64: crc64Nvme(content) });
    expect(sent().equals(content)).toBe(true);
    const stat = statSync(peer.path(file.path), { bigint: true });
    expect([stat.mode & 0o777n, stat.mtimeNs]).toEqual([0o640n, file.mtimeNs]);
    expect(readdirSync(peer.path('.dray-tmp')).filter((name) => name.startsWith('unfinished'))).toEqual([]);
  });

  it('resumes from what was sent when the client begins it again, also after a restart of the server', async () => {
    const first = await begin();
    await put(first, 0);
    await put(first, 2 * RANGE);
    expect([...(await begin()).received].sort((a, b) => a - b)).toEqual([0, 2 * RANGE]);
    await peer.restart();
    const second = await begin({ resume: true });
    expect(second.id).not.toBe(first.id);
    expect([...second.received].sort((a, b) => a - b)).toEqual([0, 2 * RANGE]);
    await putAll(second);
    await complete(second, { crc64: crc64Nvme(content) });
    expect(sent().equals(content)).toBe(true);
  });

  it('starts again for another content, and does not exist for a client that only resumes', async () => {
    await put(await begin(), 0);
    expect((await begin({ content: 'two' })).received.size).toBe(0);
    await expect(begin({ content: 'three', resume: true })).rejects.toMatchObject({ code: 'notFound' });
  });

  it('refuses a range with a wrong checksum, length or position', async () => {
    const { id } = await begin();
    const send = (at: number, bytes: Uint8Array, sum = crc64Nvme(bytes)) =>
      peer.send('PUT', `uploads/${id}?at=${at}`, {
        body: bytes,
        headers: { 'dray-crc64nvme': formatCrc64(sum) },
      });
    expect((await send(0, content.subarray(0, RANGE), 1n)).status).toBe(422);
    expect((await send(0, content.subarray(0, RANGE - 1))).status).toBe(400);
    expect((await send(1, content.subarray(0, RANGE))).status).toBe(400);
    expect((await send(4 * RANGE, content.subarray(0, RANGE))).status).toBe(400);
    expect((await begin()).received.size).toBe(0);
  });

  it('cannot be completed while a range is missing, and can be afterwards', async () => {
    const upload = await begin();
    await put(upload, 0);
    await expect(complete(upload)).rejects.toMatchObject({ code: 'conflict' });
    await putAll({ ...upload, received: new Set([0]) });
    await complete(upload);
    expect(sent().equals(content)).toBe(true);
  });

  it('that is not the announced content is refused and forgotten, so that the next attempt starts again', async () => {
    peer.write(file.path, 'before');
    const upload = await begin();
    await putAll(upload);
    await expect(complete(upload, { crc64: 1n })).rejects.toMatchObject({ code: 'checksumRefused' });
    expect(sent().toString()).toBe('before');
    expect((await begin()).received.size).toBe(0);
  });

  it('answers its completion again to a client that lost the first answer', async () => {
    const upload = await begin();
    await putAll(upload);
    const answers = await Promise.all([complete(upload), complete(upload)]);
    expect(answers[1]).toEqual(answers[0]);
    expect(await complete(upload)).toEqual(answers[0]);
  });

  it('of two clients ends as one of the two, never as a mixture', async () => {
    const other = noise(content.length, 2);
    const [one, two] = [await begin(), await begin({ content: 'two' })];
    await Promise.all([putAll(one), putAll(two, other)]);
    await Promise.all([complete(one), complete(two)]);
    expect([content, other].some((each) => sent().equals(each))).toBe(true);
    // Even of two that share one upload by mistake.
    const shared = await begin({ content: 'shared' });
    await Promise.all([putAll(shared), putAll(shared, other)]);
    const { crc64 } = await complete(shared);
    expect(crc64Nvme(sent())).toBe(crc64);
  });

  it('leaves nothing when discarded', async () => {
    const upload = await begin();
    await put(upload, 0);
    await discardPeerUpload(peer.client, upload, signal);
    await expect(put(upload, 0)).rejects.toMatchObject({ code: 'notFound' });
    expect((await begin()).received.size).toBe(0);
  });
});

describe('a file above 10,000 parts of 64 MiB', () => {
  const MIB = 1024 * 1024;
  const store = () => withRetry(createPeerFileStore(peer.client, ''), { clock: systemClock, attemptsMax: 1 });

  it('can be begun, and accepts each of its parts', async () => {
    const multipart = store().multipart!;
    const sizeBytes = 700_000_000_001;
    const partSizeBytes = partSizeFor(sizeBytes, undefined, multipart.partBytesMax);
    const upload = { key: 'huge', uploadId: await multipart.create('huge', { sizeBytes, partSizeBytes }) };
    const last = Math.ceil(sizeBytes / partSizeBytes);
    expect([partSizeBytes, last]).toEqual([64 * MIB, 10_431]);
    const rest = noise(sizeBytes % partSizeBytes, 3);
    await multipart.uploadPart(upload, last, rest);
    expect(await multipart.listParts(upload)).toMatchObject([
      { number: last, sizeBytes: rest.length, crc64nvme: crc64Nvme(rest) },
    ]);
    await multipart.abort(upload);
    expect(readdirSync(peer.path('.dray-tmp')).filter((name) => name.startsWith('unfinished'))).toEqual([]);
  });

  it('uses parts that the peer accepts, though larger ones were requested', async () => {
    const bytes = noise(64 * MIB + 1, 4);
    const uploaded = await uploadInParts(
      uploadOf(store(), bytesSource(bytes), {
        partSizeBytes: 128 * MIB,
        memory: budgetedMemory(new Budget(128 * MIB)),
      }),
    );
    expect(uploaded).toMatchObject({ sentParts: 2, confirmedBy: 'checksum', crc64nvme: crc64Nvme(bytes) });
    expect(readFileSync(peer.path(KEY)).equals(bytes)).toBe(true);
  });
});

describe('an upload without a size', () => {
  const open = async () => {
    const { content: _, sizeBytes: __, ...rest } = file;
    return beginPeerUpload(peer.client, rest, signal);
  };

  it('gets its size at completion', async () => {
    const upload = await open();
    await putAll(upload);
    await expect(complete(upload)).rejects.toMatchObject({ code: 'usage' });
    for (const sizeBytes of [content.length - 1, content.length + 1, 3 * RANGE])
      await expect(complete(upload, { sizeBytes })).rejects.toMatchObject({ code: 'conflict' });
    await complete(upload, { sizeBytes: content.length, crc64: crc64Nvme(content) });
    expect(sent().equals(content)).toBe(true);
  });

  it('is refused if a range in its middle is missing', async () => {
    const upload = await open();
    await put(upload, 0);
    await put(upload, 2 * RANGE);
    await expect(complete(upload, { sizeBytes: 3 * RANGE })).rejects.toMatchObject({ code: 'conflict' });
  });
});
