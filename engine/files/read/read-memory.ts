/** The memory that files are read into: the chunker's, so that they are cut in place. */
import type { Budget } from '../../base/budget.ts';
import { createLeasedMemory, type LeasedMemory, type SharedMemory } from '../../base/leased-memory.ts';
import {
  CHUNKER_MEMORY_BYTES_MAX,
  CHUNKER_MEMORY_START,
  type ChunkerMemory,
  createChunkerMemory,
} from '../chunks/chunker-memory.ts';
import { BATCH_BYTES_MAX, blockBytesOf, type ReaderSettings, WHOLE_READ_BYTES_MAX } from './read-limits.ts';

export type ReadMemory = LeasedMemory<SharedMemory & { readonly chunkerMemory: ChunkerMemory }>;

export function createReadMemory(budget: Budget, settings: ReaderSettings): ReadMemory {
  return createLeasedMemory({
    budget,
    largestBytes: Math.max(WHOLE_READ_BYTES_MAX, BATCH_BYTES_MAX, blockBytesOf(settings)),
    lengthBytesMax: CHUNKER_MEMORY_BYTES_MAX,
    open: (lengthBytes) => {
      const chunkerMemory = createChunkerMemory(lengthBytes, settings.layout.cutterKey);
      return { buffer: chunkerMemory.buffer, start: CHUNKER_MEMORY_START, chunkerMemory };
    },
  });
}
