/** The dialogs that create, rename, move and delete branches and tags. */
import { type ReactNode, useState } from 'react';
import type { RefKindName, RefRow } from '../../../engine/api/host/history.ts';
import { formatHash, formatPlural } from '../../../engine/api/text/numbers.ts';
import { Button } from '../../design/controls/button.tsx';
import { Checkbox, Field } from '../../design/controls/field.tsx';
import { Dialog, FormDialog } from '../../design/overlays/dialog.tsx';
import { Notice } from '../../design/states.tsx';
import { type Failed, toFailed } from '../../failures/failed.ts';
import { ErrorNotice } from '../../failures/failure.tsx';
import { useAsk } from '../../host/use-host.tsx';
import { useIsHere } from '../../host/use-is-here.ts';
import { showFailure } from '../../shell/toasts/toasts.tsx';
import { RestoreDialog } from '../history/restore-dialog.tsx';
import { MergeDialog, RevertDialog } from './merge-dialog.tsx';
import type { RefTask } from './ref-task.ts';
import { SwitchDialog } from './switch-dialog.tsx';
import { type ChangeRef, useChangeRef } from './use-change-ref.ts';
import { VersionPicker } from './version-picker.tsx';

export interface RefDialogProps {
  readonly root: string;
  readonly task: RefTask;
  readonly onClose: () => void;
  /** Opens another dialog in its place. */
  readonly onNext: (task: RefTask) => void;
}

export function RefDialog({ root, task, onClose, onNext }: RefDialogProps) {
  switch (task.do) {
    case 'new':
      return <NewRefDialog root={root} task={task} onClose={onClose} onNext={onNext} />;
    case 'rename':
      return <RenameDialog root={root} of={task.ref} onClose={onClose} />;
    case 'move':
      return <MoveDialog root={root} of={task.ref} to={task.to ?? '@'} onClose={onClose} />;
    case 'remove':
      return <RemoveDialog root={root} of={task.ref} onClose={onClose} />;
    case 'switch':
      return <SwitchDialog root={root} branch={task.branch} onClose={onClose} />;
    case 'merge':
      return <MergeDialog root={root} of={{ kind: 'merge', ref: task.version }} onClose={onClose} />;
    case 'revert':
      return <RevertDialog root={root} commit={task.commit} parents={task.parents} onClose={onClose} />;
    case 'restore':
      return <RestoreDialog root={root} file={{ commit: task.commit, path: '.' }} onClose={onClose} />;
  }
}

/** Runs one change at a time. The dialog stays open after an error, and shows it. */
function useChange(root: string, onDone: () => void) {
  const change = useChangeRef(root);
  const isHere = useIsHere();
  const [error, setError] = useState<Failed>();
  const [isBusy, setBusy] = useState(false);
  const run = async (work: (change: ChangeRef) => Promise<void>): Promise<void> => {
    setBusy(true);
    try {
      await work(change);
      if (isHere()) onDone();
    } catch (cause) {
      if (!isHere()) showFailure('The change was not made', cause);
      setError(toFailed(cause));
      setBusy(false);
    }
  };
  return { error, isBusy, run };
}

function NewRefDialog({
  root,
  task,
  onClose,
  onNext,
}: Pick<RefDialogProps, 'root' | 'onClose' | 'onNext'> & {
  readonly task: Extract<RefTask, { do: 'new' }>;
}) {
  const { kind } = task;
  const [name, setName] = useState('');
  const [commit, setCommit] = useState(task.commit ?? '@');
  const [isSwitching, setSwitching] = useState(false);
  const done = () => (isSwitching ? onNext({ do: 'switch', branch: name }) : onClose());
  const { error, isBusy, run } = useChange(root, done);
  return (
    <FormDialog
      title={`New ${kind}`}
      size="small"
      onClose={onClose}
      action={`Make the ${kind}`}
      isDisabled={name === ''}
      isPending={isBusy}
      onSubmit={() => void run((change) => change.make({ kind, name }, commit))}
    >
      <NameField kind={kind} value={name} onChange={setName} />
      <VersionPicker root={root} label="At" value={commit} onChange={setCommit} />
      {kind === 'branch' && (
        <Checkbox isSelected={isSwitching} onChange={setSwitching}>
          Then switch to it
        </Checkbox>
      )}
      {error && <ErrorNotice error={error} />}
    </FormDialog>
  );
}

interface OfRefProps extends Pick<RefDialogProps, 'root' | 'onClose'> {
  readonly of: RefRow;
}

function RenameDialog({ root, of, onClose }: OfRefProps) {
  const [name, setName] = useState(of.name);
  const { error, isBusy, run } = useChange(root, onClose);
  return (
    <FormDialog
      title={`Rename ${of.kind} ${of.name}`}
      size="small"
      onClose={onClose}
      action="Rename"
      isDisabled={name === '' || name === of.name}
      isPending={isBusy}
      onSubmit={() => void run((change) => change.rename(of, name))}
    >
      <NameField kind={of.kind} value={name} onChange={setName} />
      {of.kind === 'branch' && (
        <p className="soft small">
          Other folders on {of.name} keep the old name. A push from one of them creates it again.
        </p>
      )}
      {error && <ErrorNotice error={error} />}
    </FormDialog>
  );
}

function MoveDialog({ root, of, to: first, onClose }: OfRefProps & { readonly to: string }) {
  const [to, setTo] = useState(first);
  const { error, isBusy, run } = useChange(root, onClose);
  return (
    <FormDialog
      title={`Move ${of.kind} ${of.name}`}
      size="small"
      onClose={onClose}
      action="Move"
      isDisabled={to === of.commit}
      isPending={isBusy}
      onSubmit={() => void run((change) => change.move(of, to))}
    >
      <p className="soft">
        It is at <span className="code">{formatHash(of.commit)}</span> now.
      </p>
      <VersionPicker root={root} label="Move it to" value={to} onChange={setTo} />
      <SoleCommits root={root} of={of} to={to} />
      {error && <ErrorNotice error={error} />}
    </FormDialog>
  );
}

function RemoveDialog({ root, of, onClose }: OfRefProps) {
  const { error, isBusy, run } = useChange(root, onClose);
  const what = `${of.kind} ${of.name}`;
  return (
    <Dialog
      title={`Delete ${what}?`}
      isOpen
      size="small"
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button look="danger" isPending={isBusy} onPress={() => void run((change) => change.remove(of))}>
            Delete the {of.kind}
          </Button>
        </>
      }
    >
      <div className="stack">
        <p>
          It is at <span className="code">{formatHash(of.commit)}</span>. No file is deleted, here or on the
          remote.
        </p>
        <SoleCommits root={root} of={of}>
          Other branches and tags contain all of its commits.
        </SoleCommits>
        {error && <ErrorNotice error={error} />}
      </div>
    </Dialog>
  );
}

function NameField({
  kind,
  value,
  onChange,
}: {
  readonly kind: RefKindName;
  readonly value: string;
  readonly onChange: (name: string) => void;
}) {
  return (
    <Field
      label={`Name of the ${kind}`}
      value={value}
      onChange={onChange}
      placeholder=""
      autoFocus
      isCode
      spellCheck="false"
      autoComplete="off"
    />
  );
}

/** Counts the commits that no branch or tag would contain. */
function SoleCommits({
  root,
  of: { kind, name },
  to,
  children,
}: {
  readonly root: string;
  readonly of: RefRow;
  readonly to?: string;
  /** Shown if the count is zero. */
  readonly children?: ReactNode;
}) {
  const sole = useAsk('history.soleCommits', { root, kind, name, ...(to === undefined ? {} : { to }) });
  if (sole.error) return <ErrorNotice error={sole.error} lead="Its commits could not be counted." />;
  if (sole.isFetching || !sole.data)
    return (
      <p className="soft" role="status">
        Counting the commits that only this {kind} contains
      </p>
    );
  const { commits, isMore } = sole.data;
  if (commits === 0) return children === undefined ? null : <p className="soft">{children}</p>;
  return (
    <Notice tone="warning">
      {isMore ? 'At least ' : ''}
      {formatPlural(commits, 'commit')} {commits === 1 ? 'is' : 'are'} in no other branch or tag.{' '}
      {commits === 1 ? 'It stays' : 'They stay'} stored, and Undo restores the {kind}.
    </Notice>
  );
}
