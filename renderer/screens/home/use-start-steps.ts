/** The steps from a folder to its first push: what the user has entered, and what the engine makes of it. */
import { useRef, useState } from 'react';
import { DrayError } from '../../../engine/api/error.ts';
import type { WorkspaceCard } from '../../../engine/api/host/home.ts';
import { type Failed, toFailed } from '../../failures/failed.ts';
import { useDo, useHost, useRefresh } from '../../host/use-host.tsx';
import { useIsHere } from '../../host/use-is-here.ts';
import { goTo } from '../../route.ts';
import { showFailure, showToast } from '../../shell/toasts/toasts.tsx';
import { chooseWorkspace } from '../../shell/use-workspace.ts';
import { NO_PASSWORD, passwordOf, type TypedPassword } from '../passwords/new-password.tsx';
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

export interface EncryptionForm {
  readonly isOn: boolean;
  readonly typed: TypedPassword;
  readonly change: (next: { readonly isOn?: boolean; readonly typed?: TypedPassword }) => void;
  readonly isTried: boolean;
}

/** Of a clone: everything, or only what the patterns name, one in a line. */
export interface PartForm {
  readonly isOn: boolean;
  readonly text: string;
  readonly change: (next: { readonly isOn?: boolean; readonly text?: string }) => void;
  /** Undefined: everything. */
  readonly only: readonly string[] | undefined;
}

export interface Steps {
  readonly step: Step;
  readonly origin: Origin;
  readonly setOrigin: (origin: Origin) => void;
  readonly folder: string;
  readonly setFolder: (folder: string) => void;
  /** Undefined until the user has tried to continue. */
  readonly folderFault: string | undefined;
  /** The chosen folder if it does not exist, until its user has said whether to create it. */
  readonly absent: {
    readonly folder: string | undefined;
    readonly close: () => void;
    readonly create: () => void;
  };
  readonly placeForm: PlaceFormProps;
  readonly encryption: EncryptionForm;
  readonly part: PartForm;
  /** Of a new encrypted repository, until its reader has kept it. */
  readonly recoveryKey: string | undefined;
  readonly onRecoveryKept: () => void;
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
  const { onMade, passwordFor, ...encryption } = useEncryption(isPlaceTried);
  const part = usePart();
  const credentials = useCredentials();
  const setUp = useSetUp(credentials);
  const faults = findFaults(place);

  const { attempt, instead } = useAttempts({
    onProblem: setProblem,
    onLateProblem: (error) => {
      if (step === 'place') showFailure(`${folder} was not set up`, error);
    },
  });
  const take = (card: WorkspaceCard) => {
    chooseWorkspace(card.root);
    setMade(card);
    setStep('push');
  };
  /** A folder that is a workspace needs no place. */
  const takeFolder = () =>
    attempt(async () => {
      const known = await setUp.addKnown(folder);
      return known ? () => take(known) : checkFolder('workspace');
    });
  const checkFolder = async (use: 'workspace' | 'clone') => {
    const { exists } = await setUp.check({ root: folder, use });
    return () => (exists ? setStep('place') : setAbsent(folder));
  };
  const takePlace = () =>
    attempt(async () => {
      setPlaceTried(true);
      const password = passwordFor(origin);
      if (Object.keys(faults).length > 0 || password === undefined) return () => {};
      const made = origin === 'here' ? await setUp.create(folder, place, password) : undefined;
      if (!made) await setUp.clone(folder, place, part.only);
      // The engine has them now.
      setPlace((before) => ({ ...before, typedKeys: undefined, token: '' }));
      onMade(made);
      return () => (made ? take(made) : goTo('transfers'));
    });
  const goOn = () => {
    if (step === 'place') takePlace();
    else if (origin === 'here') takeFolder();
    else attempt(() => checkFolder('clone'));
  };
  return {
    step,
    origin,
    setOrigin: (next) => instead(() => setOrigin(next)),
    folder,
    setFolder: (next) => instead(() => setFolder(next)),
    folderFault: isFolderTried && !isAbsolute(folder) ? WHOLE_PATH : undefined,
    placeForm: {
      fields: place,
      change: (next) => setPlace((before) => ({ ...before, ...next })),
      faults: isPlaceTried ? faults : {},
      credentials,
    },
    ...encryption,
    part,
    absent: { folder: absent, close: () => setAbsent(undefined), create: () => setStep('place') },
    made,
    problem,
    isBusy: setUp.isBusy,
    back: () => instead(() => setStep('folder')),
    next: () => {
      setFolderTried(true);
      if (step === 'place' || isAbsolute(folder)) goOn();
    },
    retry: goOn,
  };
}

function usePart(): PartForm {
  const [form, setForm] = useState({ isOn: false, text: '' });
  return {
    ...form,
    change: (next) => setForm((before) => ({ ...before, ...next })),
    only: form.isOn ? patternsIn(form.text) : undefined,
  };
}

function patternsIn(text: string): readonly string[] {
  const lines = text.split('\n').map((line) => line.trim());
  return [...new Set(lines.filter((line) => line !== ''))];
}

function useEncryption(isTried: boolean) {
  const [form, setForm] = useState({ isOn: false, typed: NO_PASSWORD });
  const [recoveryKey, setRecoveryKey] = useState<string>();
  const isHere = useIsHere();
  const encryption: EncryptionForm = {
    ...form,
    change: (next) => setForm((before) => ({ ...before, ...next })),
    isTried,
  };
  return {
    encryption,
    recoveryKey,
    onRecoveryKept: () => setRecoveryKey(undefined),
    /** Null if nothing is to be encrypted, undefined if no valid password was typed. */
    passwordFor: (origin: Origin) => (form.isOn && origin === 'here' ? passwordOf(form.typed) : null),
    onMade(made: { readonly recoveryKey?: string } | undefined) {
      setForm({ isOn: false, typed: NO_PASSWORD });
      if (made?.recoveryKey === undefined) return;
      if (isHere()) setRecoveryKey(made.recoveryKey);
      else showToast(RECOVERY_KEY_UNSEEN);
    },
  };
}

const RECOVERY_KEY_UNSEEN = {
  tone: 'danger',
  title: 'The recovery key was not shown',
  text: 'Make another one on Repositories, under Passwords.',
} as const;

/** An answer is ignored if the person has left, or has changed what it is about. */
function useAttempts({
  onLateProblem,
  onProblem,
}: {
  readonly onProblem: (problem: Failed | undefined) => void;
  readonly onLateProblem: (error: unknown) => void;
}) {
  const isHere = useIsHere();
  const turn = useRef(0);
  return {
    /** @param work Returns what follows. */
    attempt: (work: () => Promise<() => void>) => {
      onProblem(undefined);
      const own = turn.current;
      const isMeant = () => isHere() && own === turn.current;
      work().then(
        (follow) => isMeant() && follow(),
        (error: unknown) => (isMeant() ? onProblem(toFailed(error)) : onLateProblem(error)),
      );
    },
    instead: (change: () => void) => {
      turn.current += 1;
      change();
    },
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
  const check = useDo('home.checkFolder');
  const host = useHost();
  const refresh = useRefresh();
  const [isWorking, setWorking] = useState(false);
  const working = async <T>(work: () => Promise<T>): Promise<T> => {
    setWorking(true);
    try {
      return await work();
    } finally {
      await refresh(...refreshes);
      setWorking(false);
    }
  };
  return {
    isBusy: add.isPending || check.isPending || isWorking,
    check: check.mutateAsync,
    /** @returns Undefined if the folder is not a workspace. */
    addKnown: (root: string) =>
      add.mutateAsync({ root }).catch((error: unknown) => {
        if (error instanceof DrayError && error.code === 'notAWorkspace') return undefined;
        throw error;
      }),
    /** Sent directly: the query client would keep the password and the recovery key in memory for minutes. */
    create: (root: string, place: PlaceFields, password: string | null) =>
      working(() =>
        credentials.use(place, (remoteUrl) => {
          const request = { root, remoteUrl, createsFolder: true };
          return host.ask('home.createWorkspace', { ...request, ...(password === null ? {} : { password }) });
        }),
      ),
    clone: (root: string, place: PlaceFields, only: readonly string[] | undefined) =>
      working(() =>
        credentials.use(place, (url) => startClone(host, { url, root, ...(only ? { only } : {}) })),
      ),
  };
}
