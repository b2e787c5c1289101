/** The steps from a folder to its first push: what the user has entered, and what the engine makes of it. */
import { useState } from 'react';
import { DrayError } from '../../../engine/api/error.ts';
import type { WorkspaceCard } from '../../../engine/api/host/home.ts';
import { type Failed, toFailed } from '../../failures/peer-need.ts';
import { useDo, useHost, useRefresh } from '../../host/use-host.tsx';
import { goTo } from '../../route.ts';
import { chooseWorkspace } from '../../shell/use-workspace.ts';
import {
  EMPTY_PLACE,
  fieldsOf,
  findFaults,
  isAbsolute,
  type PlaceFields,
  WHOLE_PATH,
} from '../place-form/place-fields.ts';
import type { PlaceFormProps } from '../place-form/place-form-props.ts';
import { type Credentials, useCredentials } from '../place-form/use-credentials.ts';
import { startClone } from './start-clone.ts';

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
  /** The chosen folder if it does not exist, until its user has said whether to create it. */
  readonly absent: {
    readonly folder: string | undefined;
    readonly close: () => void;
    readonly create: () => void;
  };
  readonly placeForm: PlaceFormProps;
  /** The workspace, once it exists. */
  readonly made: WorkspaceCard | undefined;
  readonly problem: Failed | undefined;
  readonly isBusy: boolean;
  readonly back: () => void;
  readonly next: () => void;
  readonly retry: () => void;
}

/** @param clone The address of a repository that is to be cloned. */
export function useStartSteps(clone?: string): Steps {
  const [origin, setOrigin] = useState<Origin>(clone === undefined ? 'here' : 'elsewhere');
  const [step, setStep] = useState<Step>('folder');
  const [folder, setFolder] = useState('');
  const [place, setPlace] = useState(() => placeAt(clone));
  const [isFolderTried, setFolderTried] = useState(false);
  const [isPlaceTried, setPlaceTried] = useState(false);
  const [made, setMade] = useState<WorkspaceCard>();
  const [problem, setProblem] = useState<Failed>();
  const [absent, setAbsent] = useState<string>();
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
      else await checkFolder('workspace');
    });
  const checkFolder = async (use: 'workspace' | 'clone') => {
    const { exists } = await setUp.check({ root: folder, use });
    if (exists) setStep('place');
    else setAbsent(folder);
  };
  const takePlace = () =>
    attempt(async () => {
      setPlaceTried(true);
      if (Object.keys(faults).length > 0) return;
      if (origin === 'here') take(await setUp.create(folder, place));
      else {
        await setUp.clone(folder, place);
        goTo('transfers');
      }
      // The engine has them now.
      setPlace({ ...place, typedKeys: undefined, token: '' });
    });
  const goOn = () => {
    if (step === 'place') takePlace();
    else if (origin === 'here') takeFolder();
    else attempt(() => checkFolder('clone'));
  };
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
    absent: {
      folder: absent,
      close: () => setAbsent(undefined),
      create: () => setStep('place'),
    },
    made,
    problem,
    isBusy: setUp.isBusy,
    back: () => setStep('folder'),
    next: () => {
      setFolderTried(true);
      if (step === 'place' || isAbsolute(folder)) goOn();
    },
    retry: goOn,
  };
}

/** As the form of this screen shows it: another machine is an address here. */
function placeAt(url: string | undefined): PlaceFields {
  if (url === undefined) return { ...EMPTY_PLACE, kind: 'folder' };
  const fields = fieldsOf('', url);
  return fields.kind === 'peer' ? { ...EMPTY_PLACE, kind: 'address', address: url } : fields;
}

function useSetUp(credentials: Credentials) {
  const refreshes = ['home.list'] as const;
  const add = useDo('home.addWorkspace', { refreshes });
  const create = useDo('home.createWorkspace', { refreshes });
  const check = useDo('home.checkFolder');
  const host = useHost();
  const refresh = useRefresh();
  const [isCloning, setCloning] = useState(false);
  return {
    isBusy: add.isPending || check.isPending || create.isPending || isCloning,
    check: check.mutateAsync,
    /** @returns Undefined if the folder is not a workspace. */
    addKnown: (root: string) =>
      add.mutateAsync({ root }).catch((error: unknown) => {
        if (error instanceof DrayError && error.code === 'notAWorkspace') return undefined;
        throw error;
      }),
    create: (root: string, place: PlaceFields) =>
      credentials.use(place, (remoteUrl) => create.mutateAsync({ root, remoteUrl, createsFolder: true })),
    clone: async (root: string, place: PlaceFields) => {
      setCloning(true);
      try {
        await credentials.use(place, (url) => startClone(host, { url, root }));
      } finally {
        setCloning(false);
        await refresh(...refreshes);
      }
    },
  };
}
