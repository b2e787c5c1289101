import type { Transfer } from '../../../engine/api/host/transfers.ts';
import { Badge } from '../../design/badge.tsx';
import { stateWord } from './state-words.ts';

export function StateBadge({ transfer }: { readonly transfer: Transfer }) {
  const [tone, word] = stateWord(transfer);
  return <Badge tone={tone}>{word}</Badge>;
}
