/**
 * Decides whether to trust a peer that this machine has not connected to before. The flags decide, or the
 * user at the terminal. Without either, the answer is no.
 */
import type { MetPeer } from '../../engine/api/jobs/jobs.ts';
import type { Output } from './output/output.ts';
import { askYesNo, canAsk } from './prompts.ts';

export interface TrustFlags {
  /** `--trust-new-peer`: trust any peer. */
  readonly isNewTrusted: boolean;
  /** `--trust-peer`: trust the peer with this fingerprint. */
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
    output.problem(
      'plain',
      `This machine has not connected to dray://${address} before. The fingerprint of its certificate is`,
    );
    output.problem('plain', `  ${fingerprint}`);
    if (isNewTrusted) return true;
    return askYesNo('Does "dray serve" show the same one there? Trust it from now on? (yes/no) ', signal);
  };
}
