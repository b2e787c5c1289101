/** The contract on checksums that a store keeps, and on its records of parts and running uploads. */
import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { ChecksumKind, MultipartStore, ObjectStore, PutOptions } from '../object-store.ts';
import { checksumsOf } from '../received-checksum.ts';
import type { StoreAbilities } from './abilities.fixture.ts';
import { expectCode, noise, PART_BYTES, readText, sha256, text, written } from './awkward-objects.fixture.ts';
import { computeChecksum } from './compute-checksum.fixture.ts';

type Claim = NonNullable<PutOptions['checksum']>;

/**
 * The CRC of the ASCII text `123456789`. Source: the catalogue of parametrised CRC algorithms,
 * "CRC-64/NVME", check.
 */
const CRC64_OF_DIGITS = 0xae8b14860a799888n;

export function describeKeptChecksums(store: () => ObjectStore, abilities: StoreAbilities): void {
  const bytes = noise(20_000, 50);
  const claims = (): Record<ChecksumKind, Promise<Claim>> => ({
    sha256: computeChecksum('sha256', bytes),
    crc32: computeChecksum('crc32', bytes),
    crc64nvme: computeChecksum('crc64nvme', bytes),
  });

  describe('kept checksums', () => {
    it('computes CRC-64/NVME as the standard defines it', async () => {
      const checksum = { crc64nvme: CRC64_OF_DIGITS };
      written(await store().put('sums/digits', text('123456789'), { checksum }));
    });

    it('returns the checksum that an object came with, on request', async () => {
      for (const [kind, claim] of Object.entries(claims())) {
        const checksum = await claim;
        const outcome = await store().put(`sums/${kind}`, bytes, { checksum });
        const sent = checksumsOf(checksum);
        if (outcome.written && outcome.checksums) expect(outcome.checksums).toMatchObject(sent);
        const expected = abilities.keepsChecksums ? sent : undefined;
        const call = { checksums: true, maxBytes: bytes.byteLength };
        const got = await store().get(`sums/${kind}`, { checksums: true });
        got!.body.destroy();
        const infos = [
          await store().head(`sums/${kind}`, { checksums: true }),
          (await store().read(`sums/${kind}`, call))!.info,
          got!.info,
        ];
        for (const info of infos) expect(info!.checksums, kind).toEqual(expected);
        expect((await store().head(`sums/${kind}`))!.checksums).toBeUndefined();
        const range = { start: 0, end: 10 };
        expect((await store().read(`sums/${kind}`, { ...call, range }))!.info.checksums).toBeUndefined();
      }
    });

    it('refuses bytes with another CRC-64/NVME, and changes nothing', async () => {
      written(await store().put('sums/kept', text('kept')));
      const { crc64nvme } = (await claims().crc64nvme) as { crc64nvme: bigint };
      for (const wrong of [crc64nvme ^ 1n, crc64nvme ^ (1n << 63n), 0n]) {
        const checksum = { crc64nvme: wrong };
        await expectCode('checksumRefused', store().put('sums/kept', bytes, { checksum }));
        await expectCode('checksumRefused', store().put('sums/never', bytes, { checksum }));
      }
      expect(await readText(store(), 'sums/kept')).toBe('kept');
      expect(await store().head('sums/never')).toBeUndefined();
    });

    it('keeps the checksum of an object that is copied', async () => {
      const checksum = await claims().crc64nvme;
      written(await store().put('sums/copied-from', bytes, { checksum }));
      written(await store().copy('sums/copied-from', 'sums/copied'));
      const info = await store().head('sums/copied', { checksums: true });
      expect(info!.checksums).toEqual(abilities.keepsChecksums ? checksumsOf(checksum) : undefined);
    });
  });
}

export function describeJoinedChecksums(store: () => ObjectStore, abilities: StoreAbilities): void {
  const pieces = [noise(PART_BYTES, 51), noise(PART_BYTES + 7, 52), noise(1000, 53)] as const;
  const whole = new Uint8Array(Buffer.concat(pieces));
  const multipart = (): MultipartStore => store().multipart!;

  const send = async (key: string, kind: ChecksumKind) => {
    const upload = { key, uploadId: await multipart().create(key, { checksum: kind }) };
    const parts = [];
    for (const [at, piece] of pieces.entries()) {
      const checksum = await computeChecksum(kind, piece);
      parts.push(await multipart().uploadPart(upload, at + 1, piece, { checksum }));
    }
    return { upload, parts };
  };

  describe('checksums of uploads in parts', () => {
    it('are joined to that of the whole object, and a wrong one of the whole is refused', async () => {
      for (const kind of ['crc64nvme', 'crc32'] as const) {
        const { upload, parts } = await send(`joined/${kind}`, kind);
        const right = await computeChecksum(kind, whole);
        const wrong = await computeChecksum(kind, whole.subarray(1));
        await expectCode('checksumRefused', multipart().complete(upload, parts, { checksum: wrong }), kind);
        expect(await store().head(upload.key)).toBeUndefined();
        written(await multipart().complete(upload, parts, { checksum: right }));
        const info = await store().head(upload.key, { checksums: true });
        expect(info!.sizeBytes).toBe(whole.byteLength);
        expect(info!.checksums).toEqual(abilities.keepsChecksums ? checksumsOf(right) : undefined);
      }
    });

    it('of the kind SHA-256 are those of the parts', async () => {
      const { upload, parts } = await send('joined/sha256', 'sha256');
      written(await multipart().complete(upload, parts));
      const { checksums } = (await store().head(upload.key, { checksums: true }))!;
      if (!abilities.keepsChecksums) expect(checksums).toBeUndefined();
      else {
        const ofParts = Buffer.concat(pieces.map((piece) => Buffer.from(sha256(piece), 'hex')));
        const joined = Buffer.from(sha256(ofParts), 'hex').toString('base64');
        expect(checksums).toEqual({ covers: 'ofParts', sha256: `${joined}-3` });
      }
    });

    it('are returned for each part that was sent', async () => {
      const { upload } = await send('joined/listed', 'crc64nvme');
      const sums = [];
      for (const piece of pieces) sums.push(await computeChecksum('crc64nvme', piece));
      expect(await multipart().listParts(upload)).toMatchObject(sums);
      await multipart().abort(upload);
    });

    it('do not prevent an upload that takes some of its parts from another object', async () => {
      const etag = written(await store().put('joined/source', whole));
      const key = 'joined/patched';
      const upload = { key, uploadId: await multipart().create(key) };
      const range = { start: 0, end: PART_BYTES };
      const source = { key: 'joined/source', range, ifMatch: etag };
      const first = await multipart().uploadPartCopy(upload, 1, source);
      const checksum = { crc32: crc32(pieces[2]) };
      const second = await multipart().uploadPart(upload, 2, pieces[2], { checksum });
      written(await multipart().complete(upload, [first, second]));
      const expected = Buffer.concat([pieces[0], pieces[2]]);
      const read = await store().read(key, { maxBytes: expected.byteLength });
      expect(Buffer.compare(read!.bytes, expected)).toBe(0);
      const returned = (await store().head(key, { checksums: true }))!.checksums;
      // Nobody gave one of the whole; a store that computes one itself must be right.
      if (returned?.covers === 'whole' && returned.crc64nvme !== undefined)
        expect(returned).toMatchObject(await computeChecksum('crc64nvme', expected));
    });

    it('take parts only from the object that the etag names', async () => {
      const first = written(await store().put('joined/changing', text('first')));
      written(await store().put('joined/changing', text('second')));
      const key = 'joined/pinned';
      const upload = { key, uploadId: await multipart().create(key) };
      const source = { key: 'joined/changing', ifMatch: first };
      await expectCode('conflict', multipart().uploadPartCopy(upload, 1, source));
      await multipart().abort(upload);
    });
  });

  describe('parts of an object', () => {
    it('are listed with their sizes and checksums, if the store lists them', async () => {
      const { upload, parts } = await send('parts/object', 'crc64nvme');
      const etag = written(await multipart().complete(upload, parts));
      const returned = await store().parts?.('parts/object');
      if (!abilities.listsParts) expect(returned).toBeUndefined();
      else expect(returned).toEqual({ etag, parts: parts.map(({ etag: _, ...part }) => part) });
      written(await store().put('parts/whole', text('in one piece')));
      expect(await store().parts?.('parts/whole')).toBeUndefined();
      expect(await store().parts?.('parts/absent')).toBeUndefined();
    });

    it('are measured one by one, if the store supports it', async () => {
      const { upload, parts } = await send('parts/measured', 'crc64nvme');
      written(await multipart().complete(upload, parts));
      for (const { number, sizeBytes } of parts) {
        const info = await store().head('parts/measured', { partNumber: number });
        if (abilities.countsParts) expect(info).toMatchObject({ sizeBytes, partCount: 3 });
        else expect(info!.sizeBytes).toBe(whole.byteLength);
      }
    });
  });

  describe('uploads under way', () => {
    it('are listed until they end, each below the prefixes of its key', async () => {
      const keys = ['pending/a', 'pending/b c+%', 'pending/b c+%', 'pendulum'];
      const started = [];
      for (const key of keys) started.push({ key, uploadId: await multipart().create(key) });
      const order = (uploads: readonly { key: string; uploadId: string }[]) =>
        uploads.map(({ key, uploadId }) => `${key} ${uploadId}`).sort();
      const page = await multipart().listUploads({ prefix: 'pend' });
      expect(order(page.uploads)).toEqual(order(started));
      expect(page.continuation).toBeUndefined();
      for (const { startedMs } of page.uploads)
        expect(Math.abs(startedMs - Date.now())).toBeLessThan(24 * 3600 * 1000);
      const below = await multipart().listUploads({ prefix: 'pending/' });
      expect(order(below.uploads)).toEqual(order(started.slice(0, 3)));
      expect(await multipart().listUploads({ prefix: 'pending/x' })).toEqual({ uploads: [] });

      await multipart().abort(started[0]!);
      const part = await multipart().uploadPart(started[3]!, 1, text('x'));
      written(await multipart().complete(started[3]!, [part]));
      const left = await multipart().listUploads({ prefix: 'pend' });
      expect(order(left.uploads)).toEqual(order(started.slice(1, 3)));
      for (const upload of left.uploads) await multipart().abort(upload);
      expect(await multipart().listUploads({ prefix: 'pend' })).toEqual({ uploads: [] });
    });
  });
}
