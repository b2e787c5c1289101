/**
 * Asks before a merge or a revert. Shows what it would change in the folder, and lets the user decide its
 * conflicts: all alike, or one by one.
 */
import { useState } from 'react';
import type { MergePlanned } from '../../../engine/api/host/history.ts';
import type { InputOf } from '../../../engine/api/host.ts';
import type { ConflictSide } from '../../../engine/api/jobs/jobs.ts';
import { formatCount, formatHash, formatPlural } from '../../../engine/api/text/numbers.ts';
import { Button } from '../../design/controls/button.tsx';
import { Segmented } from '../../design/controls/choices.tsx';
import { Select } from '../../design/controls/field.tsx';
import { Dialog } from '../../design/overlays/dialog.tsx';
import { Notice } from '../../design/states.tsx';
import { AnswerState } from '../../failures/answer-state.tsx';
import { useAsk } from '../../host/use-host.tsx';
import { useStartTransfers } from '../start-transfer.ts';
import { changeWords } from './change-words.ts';
import { versionName } from './ref-task.ts';

/** A branch, a tag or a commit to merge, or a commit to take back. */
type Wanted = Omit<InputOf<'history.planMerge'>, 'root'>;
/** Conflicting paths whose side differs from that of all. */
type Decisions = Readonly<Record<string, ConflictSide>>;

const MERGE_SIDES = [
  { id: 'ours', label: 'Keep mine' },
  { id: 'theirs', label: 'Take theirs' },
  { id: 'both', label: 'Keep both' },
] as const;
const REVERT_SIDES = [
  { id: 'ours', label: 'Keep mine' },
  { id: 'theirs', label: 'Take the older one' },
  { id: 'both', label: 'Keep both' },
] as const;
type Sides = typeof MERGE_SIDES | typeof REVERT_SIDES;

export interface MergeDialogProps {
  readonly root: string;
  readonly of: Wanted;
  /** Above the plan. */
  readonly children?: React.ReactNode;
  readonly onClose: () => void;
}

export function MergeDialog({ root, of, children, onClose }: MergeDialogProps) {
  const plan = useAsk('history.planMerge', { root, ...of });
  const start = useStartTransfers();
  const [side, setSide] = useState<ConflictSide>();
  const [decisions, setDecisions] = useState<Decisions>({});
  // An earlier answer is not used, because the folder may have changed since.
  const found = plan.isFetching ? undefined : plan.data;
  const name = versionName(of.ref);
  const isDecided = side !== undefined || (found !== undefined && areAllDecided(found, decisions));
  const isReady = found !== undefined && (found.conflicts === 0 || isDecided);
  const verb = of.kind === 'merge' ? 'Merge' : 'Revert';
  return (
    <Dialog
      title={`${verb} ${name}`}
      isOpen
      size="small"
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button
            look="primary"
            isDisabled={!isReady || found.isMerged === true}
            onPress={() => {
              const sides = found?.conflicts ? { ...(side ? { conflicts: side } : {}), decisions } : {};
              const words = of.kind === 'merge' ? `Merging ${name}` : `Reverting ${name}`;
              void start(words, [{ ...of, root, ...sides }]);
              onClose();
            }}
          >
            {verb}
          </Button>
        </>
      }
    >
      <div className="stack">
        {children}
        <AnswerState of={plan} label="Comparing both sides" title="Cannot compare both sides" isAnew />
        {found?.isMerged && <p>Your branch has all of {name} already.</p>}
        {found && !found.isMerged && (
          <>
            {found.conflicts > 0 && (
              <Conflicts
                plan={found}
                sides={of.kind === 'merge' ? MERGE_SIDES : REVERT_SIDES}
                changed={of.kind === 'merge' ? `here and on ${name}` : `here since ${name}`}
                side={side}
                onSide={setSide}
                decisions={decisions}
                onDecide={(path, decided) => setDecisions({ ...decisions, [path]: decided })}
              />
            )}
            <PlanWords plan={found} kind={of.kind} />
          </>
        )}
      </div>
    </Dialog>
  );
}

export interface RevertDialogProps {
  readonly root: string;
  readonly commit: string;
  readonly parents: readonly string[];
  readonly onClose: () => void;
}

export function RevertDialog({ root, commit, parents, onClose }: RevertDialogProps) {
  const [parent, setParent] = useState('1');
  const isMerge = parents.length > 1;
  const of = { kind: 'revert', ref: commit, ...(isMerge ? { parent: Number(parent) } : {}) } as const;
  return (
    <MergeDialog key={parent} root={root} of={of} onClose={onClose}>
      {isMerge && (
        <Select
          label="This commit is a merge. Keep"
          choices={parents.map((hash, at) => ({
            id: String(at + 1),
            label: `${at === 0 ? 'The branch before the merge' : 'What was merged'} (${formatHash(hash)})`,
          }))}
          value={parent}
          onChange={setParent}
        />
      )}
    </MergeDialog>
  );
}

function areAllDecided({ conflictPaths, conflicts }: MergePlanned, decisions: Decisions): boolean {
  return conflicts === conflictPaths.length && conflictPaths.every((path) => decisions[path] !== undefined);
}

interface ConflictsProps {
  readonly plan: MergePlanned;
  readonly sides: Sides;
  /** Where: "here and on side". */
  readonly changed: string;
  readonly side: ConflictSide | undefined;
  readonly onSide: (side: ConflictSide) => void;
  readonly decisions: Decisions;
  readonly onDecide: (path: string, side: ConflictSide) => void;
}

function Conflicts({ plan, changed, sides, side, onSide, decisions, onDecide }: ConflictsProps) {
  const { conflictPaths, conflicts } = plan;
  const isMore = conflicts > conflictPaths.length;
  return (
    <>
      <Notice tone="warning">
        {formatPlural(conflicts, 'path')} changed {changed}. Choose which version stays.
      </Notice>
      <Segmented<ConflictSide | 'none'>
        label={conflicts === 1 ? 'Which version stays' : 'Which version stays, for all'}
        choices={sides}
        value={side ?? 'none'}
        onChange={(chosen) => {
          if (chosen !== 'none') onSide(chosen);
        }}
      />
      {conflicts === 1 ? (
        <p className="cut" title={conflictPaths[0]}>
          {conflictPaths[0]}
        </p>
      ) : (
        <ul className="merge-conflicts" aria-label="Paths that changed on both sides">
          {conflictPaths.map((path) => (
            <li key={path} className="row">
              <span className="cut grow" title={path}>
                {path}
              </span>
              <Select<ConflictSide | 'none'>
                label={`Which version of ${path} stays`}
                isLabelUnseen
                choices={[
                  ...(decisions[path] ? [] : [{ id: 'none' as const, label: wordsOf(sides, side) }]),
                  ...sides,
                ]}
                value={decisions[path] ?? 'none'}
                onChange={(chosen) => {
                  if (chosen !== 'none') onDecide(path, chosen);
                }}
              />
            </li>
          ))}
          {isMore && (
            <li className="soft">
              and {formatCount(conflicts - conflictPaths.length)} more, which follow the choice for all
            </li>
          )}
        </ul>
      )}
    </>
  );
}

function wordsOf(sides: Sides, side: ConflictSide | undefined): string {
  return sides.find(({ id }) => id === side)?.label ?? 'Choose';
}

function PlanWords({
  plan: { changes },
  kind,
}: {
  readonly plan: MergePlanned;
  readonly kind: Wanted['kind'];
}) {
  const words = changes ? changeWords(changes) : '';
  return (
    <>
      {changes && <p>{words === '' ? 'No file of your folder changes.' : `In your folder: ${words}.`}</p>}
      <p className="soft">Your next push records the {kind}. Changes that you have not pushed stay.</p>
    </>
  );
}
