/**
 * Leads from a folder to its first push, in three steps. Also adds a folder that is already a workspace, and
 * clones one that is elsewhere.
 */
import { ErrorNotice } from '../../failures/failure.tsx';
import { type Failed, toFailed } from '../../failures/peer-need.ts';
import './start-steps.css';
import { useState } from 'react';
import { DrayError } from '../../../engine/api/error.ts';
import type { WorkspaceCard } from '../../../engine/api/host.ts';
import { formatBytes, formatCount, formatPlural } from '../../../engine/api/numbers.ts';
import { Button, LinkButton } from '../../design/button.tsx';
import { Card, Figure, Figures } from '../../design/card.tsx';
import { Segmented } from '../../design/choices.tsx';
import { Field } from '../../design/field.tsx';
import { Icon } from '../../design/icon.tsx';
import { useAsk, useDo } from '../../host/use-host.tsx';
import { goTo, hrefOf } from '../../route.ts';
import { showFailure, showToast } from '../../shell/toasts.tsx';
import { chooseWorkspace } from '../../shell/use-workspace.ts';
import {
  EMPTY_PLACE,
  findFaults,
  isAbsolute,
  type PlaceFields,
  WHOLE_PATH,
} from '../place-form/place-fields.ts';
import { useCredentials } from '../place-form/use-credentials.ts';
import { FolderPicker } from './folder-picker.tsx';
import { PlacePicker } from './place-picker.tsx';

type Step = 'folder' | 'place' | 'push';
const STEPS: readonly { readonly id: Step; readonly title: string }[] = [
  { id: 'folder', title: 'Choose a folder' },
  { id: 'place', title: 'Choose a place' },
  { id: 'push', title: 'Push' },
];

type Start = 'here' | 'elsewhere';

export interface StartStepsProps {
  /** Then there is no screen to go back to before a workspace exists. */
  readonly isFirst?: boolean;
  readonly onLeave: () => void;
}

export function StartSteps({ isFirst = false, onLeave }: StartStepsProps) {
  const [start, setStart] = useState<Start>('here');
  const [step, setStep] = useState<Step>('folder');
  const [folder, setFolder] = useState('');
  const [place, setPlace] = useState<PlaceFields>({ ...EMPTY_PLACE, kind: 'folder' });
  const [isFolderTried, setFolderTried] = useState(false);
  const [isPlaceTried, setPlaceTried] = useState(false);
  const [made, setMade] = useState<WorkspaceCard>();
  const [problem, setProblem] = useState<Failed>();
  const refreshes = ['home.list'] as const;
  const addWorkspace = useDo('home.addWorkspace', { refreshes });
  const createWorkspace = useDo('home.createWorkspace', { refreshes });
  const cloneWorkspace = useDo('home.cloneWorkspace', { refreshes });
  const isBusy = addWorkspace.isPending || createWorkspace.isPending || cloneWorkspace.isPending;
  const credentials = useCredentials();
  const faults = findFaults(place);

  const take = (card: WorkspaceCard) => {
    chooseWorkspace(card.root);
    setMade(card);
    setStep('push');
  };
  const attempt = async (work: () => Promise<void>) => {
    setProblem(undefined);
    try {
      await work();
    } catch (error) {
      setProblem(toFailed(error));
    }
  };
  /** A folder that is a workspace needs no place. */
  const takeFolder = () =>
    attempt(async () => {
      const known = await addWorkspace.mutateAsync({ root: folder }).catch((error: unknown) => {
        if (error instanceof DrayError && error.code === 'notAWorkspace') return undefined;
        throw error;
      });
      if (known) take(known);
      else setStep('place');
    });
  const takePlace = () =>
    attempt(async () => {
      setPlaceTried(true);
      if (Object.keys(faults).length > 0) return;
      if (start === 'here') {
        const make = (remoteUrl: string) => createWorkspace.mutateAsync({ root: folder, remoteUrl });
        return take(await credentials.use(place, make));
      }
      const clone = (url: string) => cloneWorkspace.mutateAsync({ url, root: folder });
      const { failed, root } = await credentials.use(place, clone);
      chooseWorkspace(root);
      if (failed === 0) return goTo('history');
      // The workspace exists, and the next pull fetches the missing files.
      const title = `${formatPlural(failed, 'file')} could not be downloaded`;
      showToast({ tone: 'danger', title, text: 'Pull to download them.' });
      goTo('changes', { direction: 'pull' });
    });

  return (
    <Card className="start">
      <StepList step={step} start={start} />
      {step === 'folder' && (
        <div className="stack">
          <Segmented
            label="Where the files are"
            value={start}
            onChange={setStart}
            choices={[
              { id: 'here', label: 'My files are on this computer' },
              { id: 'elsewhere', label: 'Someone has pushed them already' },
            ]}
          />
          <FolderPicker
            label={start === 'here' ? 'Folder with your files' : 'Folder to download them to'}
            help={
              start === 'here'
                ? 'Dray keeps versions of everything in it. The files stay where they are.'
                : 'A new or empty folder.'
            }
            value={folder}
            onChange={setFolder}
            error={isFolderTried && !isAbsolute(folder) ? WHOLE_PATH : undefined}
          />
        </div>
      )}
      {step === 'place' && (
        <PlacePicker
          isNew={start === 'here'}
          fields={place}
          change={(next) => setPlace({ ...place, ...next })}
          faults={isPlaceTried ? faults : {}}
          credentials={credentials}
        />
      )}
      {step === 'push' && made && <FirstPush workspace={made} onLeave={onLeave} />}
      {problem !== undefined && (
        <div className="start-problem">
          <ErrorNotice
            error={problem}
            onMended={() => void (step === 'place' ? takePlace() : takeFolder())}
          />
        </div>
      )}
      {step !== 'push' && (
        <footer className="start-foot">
          {!isFirst && <Button onPress={onLeave}>Cancel</Button>}
          <span className="grow" />
          {step === 'place' && <Button onPress={() => setStep('folder')}>Back</Button>}
          <Button
            look="primary"
            isDisabled={isBusy || folder === '' || (step === 'place' && isEmpty(place))}
            onPress={() => {
              setFolderTried(true);
              if (step === 'place') void takePlace();
              else if (!isAbsolute(folder)) return;
              else if (start === 'here') void takeFolder();
              else setStep('place');
            }}
          >
            {step === 'folder'
              ? 'Next'
              : isBusy
                ? 'Working'
                : start === 'here'
                  ? 'Set up'
                  : 'Download the files'}
          </Button>
        </footer>
      )}
    </Card>
  );
}

/** True if nothing chosen or typed says where. */
function isEmpty({ address, bucket, folder, kind }: PlaceFields): boolean {
  return (kind === 'folder' ? folder : kind === 's3' ? bucket : address).trim() === '';
}

function StepList({ step, start }: { readonly step: Step; readonly start: Start }) {
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
          {id === 'push' && start === 'elsewhere' ? 'Download the files' : title}
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
  const start = useDo('transfers.start');
  const [message, setMessage] = useState('First files');
  const push = () =>
    start.mutate(
      { kind: 'push', root: workspace.root, ...(message.trim() === '' ? {} : { message: message.trim() }) },
      {
        onSuccess: () => goTo('transfers'),
        onError: (failure) => showFailure('The push did not start', failure),
      },
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
        <Button look="primary" icon="upload" isDisabled={start.isPending} onPress={push}>
          Push
        </Button>
      </footer>
    </div>
  );
}
