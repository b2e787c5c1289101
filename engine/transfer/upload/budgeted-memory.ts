import type { Budget } from '../../base/budget.ts';
import type { PartMemory } from './object-source.ts';

/** Fresh memory for each part, under a shared budget. */
export function budgetedMemory(budget: Budget): PartMemory {
  return {
    take: async (bytes, signal) => {
      const permit = await budget.acquire(bytes, signal);
      return { bytes: Buffer.allocUnsafeSlow(bytes), release: () => permit.release() };
    },
  };
}
