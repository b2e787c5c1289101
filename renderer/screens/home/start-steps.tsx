/**
 * Leads from a folder to its first push, in three steps. Also adds a folder that is already a workspace, and
 * clones one that is elsewhere.
 */
import { ErrorNotice } from '../../failures/failure.tsx';
import './start-steps.css';
import { useEffect, useState } from 'react';
import type { WorkspaceCard } from '../../../engine/api/host/home.ts';
import { formatBytes, formatCount } from '../../../engine/api/text/numbers.ts';
import { Card, Figure, Figures } from '../../design/card.tsx';
import { Button, LinkButton } from '../../design/controls/button.tsx';
import { Segmented } from '../../design/controls/choices.tsx';
import { Checkbox, Field } from '../../design/controls/field.tsx';
import { Icon } from '../../design/icon.tsx';
import { ConfirmDialog } from '../../design/overlays/dialog.tsx';
import { useAsk, useDo } from '../../host/use-host.tsx';
import { goTo, hrefOf } from '../../route.ts';
import { showFailure } from '../../shell/toasts/toasts.tsx';
import { NewPassword, NO_PASSWORD } from '../passwords/new-password.tsx';
import { RecoveryKeyDialog } from '../passwords/recovery-key-dialog.tsx';
import type { PlaceFields } from '../place-form/place-fields.ts';
import { FolderPicker } from './folder-picker.tsx';
import { PlacePicker } from './place-picker.tsx';
import {
  type EncryptionForm,
  type PartForm,
  type Step,
  type Steps,
  useStartSteps,
} from './use-start-steps.ts';

const STEPS: readonly { readonly id: Step; readonly title: string }[] = [
  { id: 'folder', title: 'Choose a folder' },
  { id: 'place', title: 'Choose a place' },
  { id: 'push', title: 'Push' },
];

export interface StartStepsProps {
  /** Then there is no screen to go back to before a workspace exists. */
  readonly isFirst?: boolean;
  /** The address of a repository that is to be cloned. */
  readonly clone?: string | undefined;
  readonly onLeave: () => void;
  /** True while they work, and once they have made a workspace. */
  readonly onUnderWay?: (isUnderWay: boolean) => void;
}

export function StartSteps({ isFirst = false, clone, onLeave, onUnderWay }: StartStepsProps) {
  const steps = useStartSteps(clone);
  const { absent, isBusy, made, origin, problem, step } = steps;
  const isUnderWay = isBusy || made !== undefined;
  useEffect(() => {
    onUnderWay?.(isUnderWay);
    return () => onUnderWay?.(false);
  }, [isUnderWay, onUnderWay]);
  return (
    <Card className="start">
      <StepList step={step} origin={origin} />
      {step === 'folder' && <FolderStep steps={steps} />}
      {step === 'place' && (
        <div className="stack">
          <PlacePicker isNew={origin === 'here'} {...steps.placeForm} />
          {origin === 'here' ? <Encryption form={steps.encryption} /> : <Part form={steps.part} />}
        </div>
      )}
      {step === 'push' && made && <FirstPush workspace={made} onLeave={onLeave} />}
      {made && steps.recoveryKey !== undefined && (
        <RecoveryKeyDialog name={made.name} recoveryKey={steps.recoveryKey} onClose={steps.onRecoveryKept} />
      )}
      {problem !== undefined && (
        <div className="start-problem">
          <ErrorNotice error={problem} onMended={steps.retry} />
        </div>
      )}
      <ConfirmDialog
        title="Create a folder?"
        isOpen={absent.folder !== undefined}
        onClose={absent.close}
        action="Create it"
        onConfirm={absent.create}
      >
        The folder <span className="code">{absent.folder}</span> does not exist. Create it? Cancel to correct
        a typing mistake.
      </ConfirmDialog>
      {step !== 'push' && (
        <footer className="start-foot">
          {!isFirst && <Button onPress={onLeave}>Cancel</Button>}
          <span className="grow" />
          {step === 'place' && <Button onPress={steps.back}>Back</Button>}
          <NextButton steps={steps} />
        </footer>
      )}
    </Card>
  );
}

function FolderStep({ steps }: { readonly steps: Steps }) {
  const isHere = steps.origin === 'here';
  return (
    <div className="stack">
      <Segmented
        label="Where the files are"
        value={steps.origin}
        onChange={steps.setOrigin}
        choices={[
          { id: 'here', label: 'My files are on this computer' },
          { id: 'elsewhere', label: 'Someone has pushed them already' },
        ]}
      />
      <FolderPicker
        label={isHere ? 'Folder with your files' : 'Folder to download them to'}
        help={
          isHere
            ? 'Dray keeps versions of everything in it. The files stay where they are.'
            : 'A new or empty folder.'
        }
        value={steps.folder}
        onChange={steps.setFolder}
        error={steps.folderFault}
      />
    </div>
  );
}

function Encryption({ form: { change, isOn, isTried, typed } }: { readonly form: EncryptionForm }) {
  return (
    <>
      <Checkbox isSelected={isOn} onChange={(next) => change({ isOn: next, typed: NO_PASSWORD })}>
        Encrypt: nobody reads it who has the place but no password
      </Checkbox>
      {isOn && (
        <NewPassword
          label="Password"
          typed={typed}
          onChange={(next) => change({ typed: next })}
          isTried={isTried}
        />
      )}
    </>
  );
}

function Part({ form: { change, isOn, text } }: { readonly form: PartForm }) {
  return (
    <>
      <Checkbox isSelected={isOn} onChange={(next) => change({ isOn: next })}>
        Only a part: the rest stays where it is
      </Checkbox>
      {isOn && (
        <Field
          label="What to download"
          help="Folders, files or patterns, one in a line, such as images/2024 or *.csv. It can be changed later."
          value={text}
          onChange={(next) => change({ text: next })}
          rows={3}
          isCode
          autoFocus
        />
      )}
    </>
  );
}

function NextButton({
  steps: { folder, isBusy, next, origin, part, placeForm, step },
}: {
  readonly steps: Steps;
}) {
  const isPartEmpty = origin === 'elsewhere' && part.only?.length === 0;
  const isIncomplete = folder === '' || (step === 'place' && (isEmpty(placeForm.fields) || isPartEmpty));
  const action = origin === 'here' ? 'Set up' : 'Download the files';
  return (
    <Button look="primary" isDisabled={isIncomplete} isPending={isBusy} onPress={next}>
      {step === 'folder' ? 'Next' : isBusy ? 'Working' : action}
    </Button>
  );
}

/** True if nothing chosen or typed says where. */
function isEmpty({ address, bucket, folder, kind }: PlaceFields): boolean {
  return (kind === 'folder' ? folder : kind === 's3' ? bucket : address).trim() === '';
}

function StepList({ step, origin }: Pick<Steps, 'step' | 'origin'>) {
  const at = STEPS.findIndex(({ id }) => id === step);
  return (
    <ol className="steps">
      {STEPS.map(({ id, title }, index) => (
        <li
          key={id}
          className={index < at ? 'step step-done' : index === at ? 'step step-here' : 'step'}
          aria-current={index === at ? 'step' : undefined}
        >
          <span className="step-number" aria-hidden="true">
            {index < at ? <Icon name="check" size={12} /> : index + 1}
          </span>
          {id === 'push' && origin === 'elsewhere' ? 'Download the files' : title}
        </li>
      ))}
    </ol>
  );
}

function FirstPush({
  workspace,
  onLeave,
}: {
  readonly workspace: WorkspaceCard;
  readonly onLeave: () => void;
}) {
  const { data, error } = useAsk('changes.status', { root: workspace.root });
  const start = useDo('transfers.start', {
    onError: (failure) => showFailure('The push did not start', failure),
  });
  const [message, setMessage] = useState('First files');
  const push = () =>
    start.mutate(
      { kind: 'push', root: workspace.root, ...(message.trim() === '' ? {} : { message: message.trim() }) },
      { onSuccess: () => goTo('transfers') },
    );
  return (
    <div className="stack">
      <p className="soft">
        <strong>{workspace.name}</strong> is now a workspace. The first push sends its files to{' '}
        <span className="code">{workspace.remotes[0]?.url}</span>.
      </p>
      {error ? (
        <ErrorNotice tone="warning" error={error} />
      ) : (
        <Figures>
          <Figure
            label="Files"
            value={data ? formatCount(data.changes.added + data.changes.modified) : 'Counting'}
          />
          <Figure label="To send" value={data ? formatBytes(data.changes.bytes) : 'Counting'} />
        </Figures>
      )}
      <Field label="Message" value={message} onChange={setMessage} />
      <footer className="start-foot">
        <LinkButton href={hrefOf('changes', { direction: 'push' })}>Review the files first</LinkButton>
        <span className="grow" />
        <Button onPress={onLeave}>Later</Button>
        <Button look="primary" icon="upload" isPending={start.isPending} onPress={push}>
          Push
        </Button>
      </footer>
    </div>
  );
}
