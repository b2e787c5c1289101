/** Hashes that were asked one by one, with the remote's answers. */
import type { BlobHash } from '../../model/entry.ts';
import type { MeasuredProbe } from './measured-probe.ts';

export interface AskedHashes {
  /** Sends at most one HEAD for each hash, ever. */
  ask(hash: BlobHash): Promise<boolean>;
  /** The answers for hashes asked before; waits for those in flight. */
  answered(hashes: readonly BlobHash[]): Promise<ReadonlyMap<BlobHash, boolean>>;
  /** Hashes asked so far. */
  count(): number;
}

export function createAskedHashes(probe: Pick<MeasuredProbe, 'head'>): AskedHashes {
  const answers = new Map<BlobHash, boolean | Promise<boolean>>();

  const fetchAnswer = async (hash: BlobHash): Promise<boolean> => {
    try {
      const isPresent = await probe.head(hash);
      answers.set(hash, isPresent);
      return isPresent;
    } catch (error) {
      answers.delete(hash);
      throw error;
    }
  };

  return {
    ask: async (hash) => {
      const known = answers.get(hash);
      if (known !== undefined) return known;
      const pending = fetchAnswer(hash);
      answers.set(hash, pending);
      return pending;
    },
    answered: async (hashes) => {
      const found = new Map<BlobHash, boolean>();
      for (const hash of hashes) {
        const answer = answers.get(hash);
        if (answer !== undefined) found.set(hash, await answer);
      }
      return found;
    },
    count: () => answers.size,
  };
}
