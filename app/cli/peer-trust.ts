/** Decides about a peer that is met for the first time: by the flags, else by asking at the terminal, else not at all. */
import type { MetPeer } from '../../engine/api/jobs.ts';
import type { Output } from './output.ts';
import { askYesNo, canAsk } from './prompts.ts';

export interface TrustFlags {
  /** `--trust-new-peer`: whoever answers. */
  readonly isNewTrusted: boolean;
  /** `--trust-peer`: the one with this fingerprint. */
  readonly fingerprint?: string;
}

export function createPeerTrust(
  { fingerprint: expected, isNewTrusted }: TrustFlags,
  output: Output,
  signal: AbortSignal,
): (peer: MetPeer) => Promise<boolean> {
  return async ({ address, fingerprint }) => {
    if (expected !== undefined) return expected === fingerprint;
    if (!isNewTrusted && !canAsk()) return false;
    output.progress.stop();
    output.problem('plain', `dray://${address} is met for the first time. Its certificate's fingerprint is`);
    output.problem('plain', `  ${fingerprint}`);
    if (isNewTrusted) return true;
    return askYesNo('Is that what "dray serve" shows there? Trust it from now on? (yes/no) ', signal);
  };
}
