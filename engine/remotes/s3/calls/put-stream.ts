/**
 * Streams of unknown length: `@aws-sdk/lib-storage` cuts them into parts and keeps several in flight. The
 * requests that it makes become calls of the store it is given, so each is checksummed, counted, and repeated
 * by the retry wrapper.
 */
import assert from 'node:assert';
import { Readable } from 'node:stream';
import type {
  CompleteMultipartUploadCommandInput,
  PutObjectCommandInput,
  UploadPartCommandInput,
} from '@aws-sdk/client-s3';
import { checkAborted } from '../../../base/abort.ts';
import { combineCrc64 } from '../../../checksums/crc-combine.ts';
import { crc64Nvme, loadCrc64 } from '../../../checksums/crc64-nvme.ts';
import type { PartInfo, PutOutcome, PutStreamOptions, StreamStore } from '../../object-store.ts';
import { receiveChecksum } from '../../received-checksum.ts';
import { stoppable } from '../../stream-in-parts.ts';
import { streamPartBytes } from '../../stream-part-size.ts';
import { isRefusedBeforehand } from './condition-preview.ts';
import { loadSdk, UNUSED_PLACE } from './sdk-call.ts';

/** Parts in memory at once. The last of them is being filled while the others are sent. */
const PARTS_AT_ONCE = 5;

/**
 * Every part carries its CRC64NVME, and the completion the one joined of all, so the store verifies every
 * byte.
 */
export async function putStream(
  store: StreamStore,
  key: string,
  body: AsyncIterable<Uint8Array>,
  options: PutStreamOptions,
): Promise<PutOutcome> {
  checkAborted(options.signal);
  const [{ Upload }, { client }] = await Promise.all([
    import('@aws-sdk/lib-storage'),
    loadSdk(),
    loadCrc64(),
  ]);
  const stop = new AbortController();
  const partSize = streamPartBytes(options);
  const calls = createStreamCalls(store, key, { ...options, partSizeBytes: partSize }, stop);
  const source = Readable.from(checked(body, key, options), { objectMode: true, highWaterMark: 1 });
  // Its errors reach the uploader. One after the upload's end has no other listener, and would end the
  // process.
  source.on('error', () => {});
  try {
    const upload = new Upload({
      client: Object.assign(Object.create(client), { send: calls.send }),
      params: { ...UNUSED_PLACE, Body: source },
      partSize,
      queueSize: PARTS_AT_ONCE,
      abortController: stop,
      leavePartsOnError: true,
    });
    await upload.done();
    return calls.outcome();
  } catch (error) {
    return await calls.fail(error);
  } finally {
    source.destroy();
  }
}

type Input = Partial<CompleteMultipartUploadCommandInput & UploadPartCommandInput & PutObjectCommandInput>;

/** @param stop Ends the upload at the first failure: the uploader would read the rest of the stream first. */
function createStreamCalls(
  store: StreamStore,
  key: string,
  options: PutStreamOptions,
  stop: AbortController,
) {
  const { multipart } = store;
  const call = options.signal ? { signal: options.signal } : {};
  const sums: { readonly number: number; readonly crc64nvme: bigint; readonly sizeBytes: number }[] = [];
  const sent: PartInfo[] = [];
  const sending = new Set<Promise<unknown>>();
  let uploadId: string | undefined;
  let outcome: PutOutcome | undefined;
  let failure: { readonly error: unknown } | undefined;

  const put = async (bytes: Uint8Array) => {
    const checksum = options.checksum ?? { crc64nvme: crc64Nvme(bytes) };
    outcome = await store.put(key, bytes, { ...options, checksum });
    return {};
  };
  const create = async () => {
    if (await isRefusedBeforehand(options, () => store.head(key, call))) {
      outcome = { written: false };
      throw new Error('The condition does not hold.');
    }
    uploadId = await multipart.create(key, { ...options, checksum: 'crc64nvme' });
    return { UploadId: uploadId };
  };
  const uploadPart = async (number: number, bytes: Uint8Array) => {
    const crc64nvme = crc64Nvme(bytes);
    sums.push({ number, crc64nvme, sizeBytes: bytes.byteLength });
    const checksum = { crc64nvme };
    sent.push(await multipart.uploadPart({ key, uploadId: uploadId! }, number, bytes, { ...call, checksum }));
    // The uploader wants an etag, and some stores give none. `sent` has the real one.
    return { ETag: 'sent' };
  };
  const complete = async () => {
    sums.sort((left, right) => left.number - right.number);
    const joined = sums.reduce((sum, part) => combineCrc64(sum, part.crc64nvme, part.sizeBytes), 0n);
    const { condition } = options;
    const upload = { key, uploadId: uploadId! };
    const checksum = { crc64nvme: joined };
    outcome = await multipart.complete(upload, sent, {
      ...call,
      checksum,
      ...(condition ? { condition } : {}),
    });
    if (!outcome.written) await multipart.abort(upload);
    return {};
  };
  const answer = ({ Body, MultipartUpload, PartNumber }: Input): Promise<object> => {
    if (MultipartUpload) return complete();
    if (PartNumber !== undefined) return uploadPart(PartNumber, Body as Uint8Array);
    return Body ? put(Body as Uint8Array) : create();
  };

  return {
    send: ({ input }: { readonly input: Input }): Promise<object> => {
      const work = answer(input)
        .catch((error: unknown) => {
          failure ??= { error };
          stop.abort();
          throw error;
        })
        .finally(() => sending.delete(work));
      sending.add(work);
      return work;
    },
    outcome: (): PutOutcome => {
      assert(outcome);
      return outcome;
    },
    /** Frees the parts and throws what went wrong first. */
    fail: async (error: unknown): Promise<PutOutcome> => {
      await Promise.allSettled(sending);
      // Without the signal: it may be the reason. A failure here matters less than the one before.
      if (uploadId !== undefined) await multipart.abort({ key, uploadId }).catch(() => {});
      if (outcome) return outcome;
      throw failure ? failure.error : error;
    },
  };
}

/**
 * The source's pieces, each in memory of its own, since a part holds many of them and the source may use its
 * memory again. Fails with `checksumRefused` at the end when the bytes are not those announced.
 */
async function* checked(
  body: AsyncIterable<Uint8Array>,
  key: string,
  { checksum, signal }: PutStreamOptions,
): AsyncGenerator<Buffer> {
  const received = await receiveChecksum(checksum);
  for await (const piece of stoppable(body, signal)) {
    // The uploader takes an empty piece for the end.
    if (piece.byteLength === 0) continue;
    received.update(piece);
    yield Buffer.from(piece);
  }
  checkAborted(signal);
  received.verify(key);
}
