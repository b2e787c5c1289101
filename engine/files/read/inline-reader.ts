/**
 * Reads on the calling thread, for jobs too small for threads. The event loop runs after each batch and each
 * block.
 */
import { setImmediate as turn } from 'node:timers/promises';
import type { Lease } from '../../base/leased-memory.ts';
import { openChunkerTools } from '../chunks/chunker.ts';
import { CHUNKER_MEMORY_START, createChunkerMemory, viewMemory } from '../chunks/chunker-memory.ts';
import { readBatch } from './read-batch.ts';
import { type BlockHost, readLarge } from './read-large.ts';
import { BATCH_BYTES_MAX, blockBytesOf, PIECE_BYTES } from './read-limits.ts';
import type { ReadTask, TaskRunner } from './read-tasks.ts';
import type { LargeRead, ReadRun } from './reader-run.ts';
import type { ReadRequest } from './reader-types.ts';

/** Pieces between two turns of the event loop: about ten milliseconds. */
const PIECES_PER_TURN = 8;

export function createInlineRunner(run: ReadRun): TaskRunner {
  let scratch: Uint8Array | undefined;

  const startBatch = async (requests: readonly ReadRequest[], sizeBytes: number): Promise<void> => {
    const { settings } = run;
    const lease = settings.wantBytes ? await run.memory.take(sizeBytes, run.signal) : undefined;
    if (lease === undefined) scratch ??= new Uint8Array(BATCH_BYTES_MAX);
    const buffer = lease === undefined ? scratch! : lease.bytes;
    const report = readBatch({ settings, paths: requests.map(({ path }) => path), buffer });
    run.deliverBatch(requests, report, lease);
  };

  return {
    async start(task: ReadTask) {
      await run.room();
      if (task.kind === 'batch') await startBatch(task.requests, task.sizeBytes);
      else {
        const file: LargeRead = { request: task.request, isCut: task.kind === 'cut', chunks: [] };
        const host =
          file.isCut && run.settings.wantBytes ? leasedBlocks(run, file) : scratchBlocks(run, file);
        const large = { settings: run.settings, path: task.request.path, fileClass: task.kind };
        run.deliverEnd(file, await readLarge(large, host));
      }
      await turn();
    },
    finish: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

/** Blocks that are handed to the consumer. */
function leasedBlocks(run: ReadRun, file: LargeRead): BlockHost {
  let lease: Lease | undefined;
  return {
    chunkerTools: () => openChunkerTools(run.memory.memory().chunkerMemory),
    async takeBlock() {
      await run.room();
      lease = await run.memory.take(blockBytesOf(run.settings), run.signal);
      return lease.bytes;
    },
    async sendBlock(chunks) {
      run.deliverChunks(file, chunks, lease);
      await turn();
    },
  };
}

/** One small buffer, reused: only hashes are needed. */
function scratchBlocks(run: ReadRun, file: LargeRead): BlockHost {
  const memory = createChunkerMemory(PIECE_BYTES, run.settings.layout.cutterKey);
  const scratch = viewMemory(memory, CHUNKER_MEMORY_START, PIECE_BYTES);
  let pieces = 0;
  return {
    chunkerTools: () => openChunkerTools(memory),
    async takeBlock() {
      pieces += 1;
      if (pieces % PIECES_PER_TURN === 0) {
        await turn();
        await run.room();
      }
      return scratch;
    },
    sendBlock(chunks) {
      run.deliverChunks(file, chunks, undefined);
      return Promise.resolve();
    },
  };
}
