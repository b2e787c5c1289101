/** Reads a body in order and passes it on in blocks that threads share. */
import { DrayError } from '../../api/error.ts';

/** The body's parts are collected to this size: smaller blocks would cost more to pass on than to hash. */
const BLOCK_BYTES = 1024 * 1024;
/** The thread writes one and one is in transit while the next is filled. Then the body has to wait. */
const BLOCKS_UNWRITTEN_MAX = 2;

export interface StreamOptions {
  readonly body: AsyncIterable<Uint8Array>;
  /** Upper bound; smaller streams use smaller blocks. */
  readonly sizeBytes: number;
  /** The block's bytes do not change until the promise settles. Called in order; promises settle in order. */
  readonly append: (offset: number, block: Uint8Array) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Resolves to the body's length in bytes once everything is appended. Closes the body on failure. */
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
    // Awaited in order below; until then a failure must not count as unhandled.
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
 * Blocks used in turn, each free again when its turn comes. Shared memory: nothing is copied or allocated on
 * the way to a thread, which took a third of a stream's time.
 */
function blockRing(blockBytes: number): () => Uint8Array {
  const blocks: Uint8Array[] = [];
  let turn = -1;
  return () => {
    turn = (turn + 1) % (BLOCKS_UNWRITTEN_MAX + 1);
    // At least one byte, so that a body longer than its file is detected, even for an empty file.
    blocks[turn] ??= new Uint8Array(new SharedArrayBuffer(Math.max(1, blockBytes)));
    return blocks[turn]!;
  };
}

/** A body that hangs must not delay an abort. */
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
