/** Reads a body in order and hands it on in blocks that threads share. */
import { DrayError } from '../../api/error.ts';

/** The body's parts are gathered to this size: small ones would cost more to hand over than to hash. */
const BLOCK_BYTES = 1024 * 1024;
/** One in the thread's hands and one on the way, while the next is filled; the body waits for the rest. */
const BLOCKS_UNWRITTEN_MAX = 2;

export interface StreamOptions {
  readonly body: AsyncIterable<Uint8Array>;
  /** At most; smaller streams take smaller blocks. */
  readonly sizeBytes: number;
  /** The block's bytes stay as they are until the promise settles. Called in order; promises settle in order. */
  readonly append: (offset: number, block: Uint8Array) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Resolves to the body's length in bytes, when all of it is appended. Closes the body when that fails. */
export async function appendStream({ body, sizeBytes, append, signal }: StreamOptions): Promise<number> {
  const iterator = body[Symbol.asyncIterator]();
  const reader = interruptible(iterator, signal);
  const pending: Promise<void>[] = [];
  const nextBlock = blockRing(Math.min(sizeBytes, BLOCK_BYTES));
  let block = nextBlock();
  let filled = 0;
  let offset = 0;
  const flush = async () => {
    const written = append(offset, block.subarray(0, filled));
    // Awaited in order below; until then a failure has somebody who listens.
    written.catch(() => undefined);
    pending.push(written);
    offset += filled;
    filled = 0;
    if (pending.length > BLOCKS_UNWRITTEN_MAX) await pending.shift();
    block = nextBlock();
  };
  try {
    for (let next = await reader.next(); !next.done; next = await reader.next()) {
      for (let at = 0; at < next.value.length; ) {
        const taken = Math.min(block.length - filled, next.value.length - at);
        block.set(next.value.subarray(at, at + taken), filled);
        filled += taken;
        at += taken;
        if (filled === block.length) await flush();
      }
    }
    if (filled > 0) await flush();
    await Promise.all(pending);
    return offset;
  } catch (error) {
    await Promise.allSettled(pending);
    // Not awaited: a body that hangs would hang here too.
    void iterator.return?.().catch(() => undefined);
    throw error;
  } finally {
    reader.end();
  }
}

/**
 * Blocks in turn, each free again by the time its turn comes. Shared memory: nothing is copied or allocated anew on the
 * way to a thread, which took a third of a stream's time.
 */
function blockRing(blockBytes: number): () => Uint8Array {
  const blocks: Uint8Array[] = [];
  let turn = -1;
  return () => {
    turn = (turn + 1) % (BLOCKS_UNWRITTEN_MAX + 1);
    // One byte at least, so that a body longer than its file is noticed, also an empty one's.
    blocks[turn] ??= new Uint8Array(new SharedArrayBuffer(Math.max(1, blockBytes)));
    return blocks[turn]!;
  };
}

/** A body that hangs must not hold up the stop. */
function interruptible(iterator: AsyncIterator<Uint8Array>, signal: AbortSignal) {
  let interrupt: ((reason: unknown) => void) | undefined;
  const onAbort = () => interrupt?.(new DrayError('aborted', 'Stopped on request.'));
  signal.addEventListener('abort', onAbort, { once: true });
  return {
    next: () =>
      new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
        interrupt = reject;
        iterator.next().then(resolve, reject);
      }),
    end: () => signal.removeEventListener('abort', onAbort),
  };
}
