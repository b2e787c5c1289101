/** The state of a transfer: the same words wherever one is shown. */
import type { Transfer } from '../../../engine/api/host/transfers.ts';
import { Badge, type BadgeTone } from '../../design/badge.tsx';
import { phaseWords } from './transfer-words.ts';

export function StateBadge({ transfer }: { readonly transfer: Transfer }) {
  const [tone, word] = STATES[transfer.state];
  return <Badge tone={tone}>{transfer.state === 'running' ? phaseWords(transfer.phase) : word}</Badge>;
}

const STATES: Readonly<Record<Transfer['state'], readonly [BadgeTone, string]>> = {
  waiting: ['neutral', 'Waiting'],
  running: ['accent', 'Running'],
  paused: ['modified', 'Paused'],
  done: ['added', 'Done'],
  failed: ['deleted', 'Failed'],
  cancelled: ['neutral', 'Cancelled'],
};
