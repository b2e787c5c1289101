/** The button beside an error about missing keys. It asks for the keys, then retries the request. */
import { useState } from 'react';
import { isWhole, KeyPair, keysOf, NO_KEYS } from '../design/controls/key-pair.tsx';
import { FormDialog } from '../design/overlays/dialog.tsx';
import { Notice } from '../design/states.tsx';
import { useKeyKeeper } from '../host/key-keeper.ts';
import { useIsHere } from '../host/use-is-here.ts';
import { toFailed } from './failed.ts';
import { failureWords } from './failure-words.ts';
import { RemedyButton, type RemedyDialogProps, type RemedyProps } from './remedy-button.tsx';

/** @param profile The value of `profile=` in a URL. `default` serves remotes without one. */
export function KeysButton({ profile, ...rest }: RemedyProps & { readonly profile: string }) {
  return (
    <RemedyButton
      label="Enter the keys"
      dialog={(props) => <KeysDialog profile={profile} {...props} />}
      {...rest}
    />
  );
}

function KeysDialog({ profile, onClose, onMended }: RemedyDialogProps & { readonly profile: string }) {
  const [keys, setKeys] = useState(NO_KEYS);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const { keep, keptBy, state } = useKeyKeeper();
  const isHere = useIsHere();
  const submit = async (): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      await keep(profile, keysOf(keys));
      if (isHere()) onMended();
    } catch (error) {
      setProblem(failureWords(toFailed(error)));
      setBusy(false);
    }
  };
  return (
    <FormDialog
      title={profile === 'default' ? 'Keys for remotes that name none' : `Keys of ${profile}`}
      onClose={onClose}
      action={keptBy === 'engine' ? 'Use these keys' : 'Save'}
      isDisabled={!isWhole(keys) || state?.isAvailable === false}
      isPending={isBusy}
      onSubmit={() => void submit()}
    >
      <KeyPair keys={keys} onChange={setKeys} autoFocus />
      {state?.warning !== undefined && <Notice tone="warning">{state.warning}</Notice>}
      <p className="small faint">{keeperWords(keptBy)}</p>
      {problem !== undefined && <Notice tone="danger">{problem}</Notice>}
    </FormDialog>
  );
}

/** Says where typed keys are stored. */
export function keeperWords(keptBy: 'computer' | 'engine'): string {
  return keptBy === 'engine'
    ? 'Dray’s engine holds them in its memory until it ends, and asks again after that. No file has them, and this page does not keep them.'
    : 'Saved on this computer, encrypted by your system. No file of Dray shows them in plain text.';
}
