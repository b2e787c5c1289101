/** Asks before a merge. Shows what it would change in the folder, and lets the user decide its conflicts. */
import { useState } from 'react';
import type { MergePlanned } from '../../../engine/api/host/history.ts';
import type { ConflictSide } from '../../../engine/api/jobs/jobs.ts';
import { formatCount, formatPlural } from '../../../engine/api/text/numbers.ts';
import { Button } from '../../design/controls/button.tsx';
import { Segmented } from '../../design/controls/choices.tsx';
import { Dialog } from '../../design/overlays/dialog.tsx';
import { Notice } from '../../design/states.tsx';
import { AnswerState } from '../../failures/answer-state.tsx';
import { useAsk } from '../../host/use-host.tsx';
import { useStartTransfers } from '../start-transfer.ts';
import { changeWords } from './change-words.ts';
import { versionName } from './ref-task.ts';

const NAMED_MAX = 8;

export interface MergeDialogProps {
  readonly root: string;
  /** A branch, a tag or a commit. */
  readonly version: string;
  readonly onClose: () => void;
}

export function MergeDialog({ root, version, onClose }: MergeDialogProps) {
  const plan = useAsk('history.planMerge', { root, ref: version });
  const start = useStartTransfers();
  const [side, setSide] = useState<ConflictSide>();
  // An earlier answer is not used, because the folder may have changed since.
  const found = plan.isFetching ? undefined : plan.data;
  const name = versionName(version);
  const isOpen = found !== undefined && (found.conflicts === 0 || side !== undefined);
  return (
    <Dialog
      title={`Merge ${name}`}
      isOpen
      size="small"
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button
            look="primary"
            isDisabled={!isOpen || found.isMerged === true}
            onPress={() => {
              const order = { kind: 'merge', root, ref: version } as const;
              void start(`Merging ${name}`, [side === undefined ? order : { ...order, conflicts: side }]);
              onClose();
            }}
          >
            Merge
          </Button>
        </>
      }
    >
      <AnswerState of={plan} label="Comparing both sides" title="Cannot compare both sides" isAnew />
      {found && <PlanWords plan={found} name={name} side={side} onSide={setSide} />}
    </Dialog>
  );
}

interface PlanWordsProps {
  readonly plan: MergePlanned;
  readonly name: string;
  readonly side: ConflictSide | undefined;
  readonly onSide: (side: ConflictSide) => void;
}

function PlanWords({ plan, name, side, onSide }: PlanWordsProps) {
  const { changes, conflictPaths, conflicts, isMerged } = plan;
  if (isMerged) return <p>Your branch has all of {name} already.</p>;
  const words = changes ? changeWords(changes) : '';
  return (
    <div className="stack">
      {conflicts > 0 && (
        <Notice tone="warning">
          <p>
            {formatPlural(conflicts, 'path')} changed here and on {name}:
          </p>
          <ul>
            {conflictPaths.slice(0, NAMED_MAX).map((path) => (
              <li key={path} className="cut" title={path}>
                {path}
              </li>
            ))}
            {conflicts > NAMED_MAX && <li>and {formatCount(conflicts - NAMED_MAX)} more</li>}
          </ul>
        </Notice>
      )}
      {conflicts > 0 && (
        <Segmented<ConflictSide | 'none'>
          label="Which version stays"
          choices={[
            { id: 'ours', label: 'Keep mine' },
            { id: 'theirs', label: 'Take theirs' },
            { id: 'both', label: 'Keep both' },
          ]}
          value={side ?? 'none'}
          onChange={(chosen) => {
            if (chosen !== 'none') onSide(chosen);
          }}
        />
      )}
      {changes && <p>{words === '' ? 'No file of your folder changes.' : `In your folder: ${words}.`}</p>}
      <p className="soft">Your next push records the merge. Changes that you have not pushed stay.</p>
    </div>
  );
}
