/** The steps from a folder to its first push: what the user has entered, and what the engine makes of it. */
import { useState } from 'react';
import { DrayError } from '../../../engine/api/error.ts';
import type { WorkspaceCard } from '../../../engine/api/host/home.ts';
import type { AnswerOf } from '../../../engine/api/host.ts';
import { formatPlural } from '../../../engine/api/numbers.ts';
import { type Failed, toFailed } from '../../failures/peer-need.ts';
import { useDo } from '../../host/use-host.tsx';
import { goTo } from '../../route.ts';
import { showToast } from '../../shell/toasts.tsx';
import { chooseWorkspace } from '../../shell/use-workspace.ts';
import {
  EMPTY_PLACE,
  findFaults,
  isAbsolute,
  type PlaceFields,
  WHOLE_PATH,
} from '../place-form/place-fields.ts';
import type { PlaceFormProps } from '../place-form/place-form-props.ts';
import { type Credentials, useCredentials } from '../place-form/use-credentials.ts';

export type Step = 'folder' | 'place' | 'push';
/** Where the files are: on this computer, or pushed from another one. */
export type Origin = 'here' | 'elsewhere';

export interface Steps {
  readonly step: Step;
  readonly origin: Origin;
  readonly setOrigin: (origin: Origin) => void;
  readonly folder: string;
  readonly setFolder: (folder: string) => void;
  /** Undefined until the user has tried to go on. */
  readonly folderFault: string | undefined;
  readonly placeForm: PlaceFormProps;
  /** The workspace, once it exists. */
  readonly made: WorkspaceCard | undefined;
  readonly problem: Failed | undefined;
  readonly isBusy: boolean;
  readonly back: () => void;
  readonly next: () => void;
  readonly retry: () => void;
}

export function useStartSteps(): Steps {
  const [origin, setOrigin] = useState<Origin>('here');
  const [step, setStep] = useState<Step>('folder');
  const [folder, setFolder] = useState('');
  const [place, setPlace] = useState<PlaceFields>({ ...EMPTY_PLACE, kind: 'folder' });
  const [isFolderTried, setFolderTried] = useState(false);
  const [isPlaceTried, setPlaceTried] = useState(false);
  const [made, setMade] = useState<WorkspaceCard>();
  const [problem, setProblem] = useState<Failed>();
  const credentials = useCredentials();
  const setUp = useSetUp(credentials);
  const faults = findFaults(place);

  const take = (card: WorkspaceCard) => {
    chooseWorkspace(card.root);
    setMade(card);
    setStep('push');
  };
  const attempt = (work: () => Promise<void>) => {
    setProblem(undefined);
    work().catch((error: unknown) => setProblem(toFailed(error)));
  };
  /** A folder that is a workspace needs no place. */
  const takeFolder = () =>
    attempt(async () => {
      const known = await setUp.addKnown(folder);
      if (known) take(known);
      else setStep('place');
    });
  const takePlace = () =>
    attempt(async () => {
      setPlaceTried(true);
      if (Object.keys(faults).length > 0) return;
      if (origin === 'here') take(await setUp.create(folder, place));
      else openClone(await setUp.clone(folder, place));
      // The engine has them now.
      setPlace({ ...place, typedKeys: undefined, token: '' });
    });
  return {
    step,
    origin,
    setOrigin,
    folder,
    setFolder,
    folderFault: isFolderTried && !isAbsolute(folder) ? WHOLE_PATH : undefined,
    placeForm: {
      fields: place,
      change: (next) => setPlace({ ...place, ...next }),
      faults: isPlaceTried ? faults : {},
      credentials,
    },
    made,
    problem,
    isBusy: setUp.isBusy,
    back: () => setStep('folder'),
    next: () => {
      setFolderTried(true);
      if (step === 'place') takePlace();
      else if (!isAbsolute(folder)) return;
      else if (origin === 'here') takeFolder();
      else setStep('place');
    },
    retry: step === 'place' ? takePlace : takeFolder,
  };
}

function useSetUp(credentials: Credentials) {
  const refreshes = ['home.list'] as const;
  const add = useDo('home.addWorkspace', { refreshes });
  const create = useDo('home.createWorkspace', { refreshes });
  const clone = useDo('home.cloneWorkspace', { refreshes });
  return {
    isBusy: add.isPending || create.isPending || clone.isPending,
    /** @returns Undefined if the folder is not a workspace. */
    addKnown: (root: string) =>
      add.mutateAsync({ root }).catch((error: unknown) => {
        if (error instanceof DrayError && error.code === 'notAWorkspace') return undefined;
        throw error;
      }),
    create: (root: string, place: PlaceFields) =>
      credentials.use(place, (remoteUrl) => create.mutateAsync({ root, remoteUrl })),
    clone: (root: string, place: PlaceFields) =>
      credentials.use(place, (url) => clone.mutateAsync({ url, root })),
  };
}

function openClone({ failed, root }: AnswerOf<'home.cloneWorkspace'>): void {
  chooseWorkspace(root);
  if (failed === 0) {
    goTo('history');
    return;
  }
  // The workspace exists, and the next pull fetches the missing files.
  const title = `${formatPlural(failed, 'file')} could not be downloaded`;
  showToast({ tone: 'danger', title, text: 'Pull to download them.' });
  goTo('changes', { direction: 'pull' });
}
