/** The question before a collection: what it removes, and whether what is young goes too. */
import { useState } from 'react';
import type { RepositoryGarbage } from '../../../engine/api/host/repositories.ts';
import { formatBytes, formatPlural } from '../../../engine/api/text/numbers.ts';
import { Checkbox } from '../../design/controls/field.tsx';
import { formatAgo } from '../../design/format.ts';
import { ConfirmDialog } from '../../design/overlays/dialog.tsx';
import { useStartTransfers } from '../start-transfer.ts';
import { savedWords } from './saved-words.ts';

export interface CollectDialogProps {
  readonly name: string;
  readonly root: string;
  readonly garbage: RepositoryGarbage | undefined;
  readonly onClose: () => void;
}

export function CollectDialog({ name, root, garbage, onClose }: CollectDialogProps) {
  const [takesYoung, setTakesYoung] = useState(false);
  const start = useStartTransfers();
  const objects = (garbage?.garbageObjects ?? 0) + (takesYoung ? (garbage?.youngObjects ?? 0) : 0);
  const bytes = (garbage?.garbageBytes ?? 0) + (takesYoung ? (garbage?.youngBytes ?? 0) : 0);
  const young = garbage?.youngObjects
    ? ` (${formatPlural(garbage.youngObjects, 'object')}, ${formatBytes(garbage.youngBytes)})`
    : '';
  return (
    <ConfirmDialog
      title={`Collect garbage of ${name}`}
      isOpen
      isDanger
      onClose={onClose}
      action="Collect garbage"
      onConfirm={() => {
        const order = { kind: 'gc', root, ...(takesYoung ? { graceSeconds: 0 } : {}) } as const;
        void start(`Garbage of ${name} is being collected`, [order]);
      }}
    >
      <div className="stack">
        <p>
          It removes from the store for good what no commit that is kept needs. Others may push and pull
          meanwhile.
        </p>
        {garbage && (
          <p>
            As checked {formatAgo(garbage.at)}:{' '}
            {objects === 0
              ? 'nothing to remove.'
              : `${formatPlural(objects, 'object')}, ${formatBytes(bytes)}${takesYoung ? '' : savedWords(garbage)}.`}
          </p>
        )}
        <Checkbox isSelected={takesYoung} onChange={setTakesYoung}>
          Also what is younger than a day{young}
        </Checkbox>
        {takesYoung && (
          <p className="small faint">
            A push that is under way may have to send again what it has just sent.
          </p>
        )}
      </div>
    </ConfirmDialog>
  );
}
