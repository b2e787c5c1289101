/** A broken body, continued by another request for the rest, as long as the object is the same. */
import { DrayError } from '../../api/error.ts';
import { type RetryPolicy, retrying } from '../../base/retry.ts';
import type { GetOptions, ObjectRead, ObjectStore, RemoteKey } from '../object-store.ts';

interface Begun {
  readonly key: RemoteKey;
  readonly call: GetOptions;
  readonly read: ObjectRead;
}

/**
 * Each received piece is a success, so only consecutive breaks use up the policy's attempts. A later body
 * fails with `conflict` if the object is another one by then, or gone. Without an etag nothing is resumed.
 */
export function resumed(
  store: Pick<ObjectStore, 'get'>,
  policy: RetryPolicy,
  { call, key, read }: Begun,
): ObjectRead {
  if (read.etag === '') return read;
  const start = call.range?.start ?? 0;
  const end = call.range?.end ?? start + read.sizeBytes;
  // An answer in chunks has no length.
  if (Number.isNaN(end)) return read;
  let { body } = read;

  async function reopen(at: number): Promise<AsyncIterator<Uint8Array>> {
    const next = await store.get(key, { ...call, range: { start: at, end }, ifMatch: read.etag });
    if (next && next.etag !== read.etag) next.body.destroy();
    if (next?.etag !== read.etag)
      throw new DrayError('conflict', `${key} changed while it was read.`, { data: { key } });
    body = next.body;
    return body[Symbol.asyncIterator]();
  }

  async function* pieces(): AsyncGenerator<Uint8Array> {
    let at = start;
    let iterator = body[Symbol.asyncIterator]();
    // A received piece is not the answer to a retried request, and adds nothing to the policy's budget.
    const goOn = (broken: unknown) =>
      retrying(policy, call.signal, async (failures) => {
        if (failures.length === 0) throw broken;
        if (at < end) iterator = await reopen(at);
        return iterator.next();
      });
    for (;;) {
      const { done, value } = await iterator.next().catch((error: unknown) => goOn(error));
      if (done) return;
      at += value.byteLength;
      yield value;
    }
  }

  return { ...read, body: { [Symbol.asyncIterator]: pieces, destroy: () => body.destroy() } };
}
