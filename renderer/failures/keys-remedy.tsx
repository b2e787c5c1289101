/** The button beside an error about missing keys. It asks for the keys, then retries the request. */
import { useRef, useState } from 'react';
import { Button, type ButtonProps } from '../design/controls/button.tsx';
import { isWhole, KeyPair, keysOf, NO_KEYS } from '../design/controls/key-pair.tsx';
import { FormDialog } from '../design/overlays/dialog.tsx';
import { Notice } from '../design/states.tsx';
import { useKeyKeeper } from '../host/key-keeper.ts';
import { useIsHere } from '../host/use-is-here.ts';
import { failureWords } from './failure-words.ts';
import { toFailed } from './peer-need.ts';
import { useFocusHome } from './use-focus-home.ts';

export interface KeysButtonProps {
  /** The value of `profile=` in a URL. `default` serves remotes without one. */
  readonly profile: string;
  readonly size?: NonNullable<ButtonProps['size']>;
  readonly look?: NonNullable<ButtonProps['look']>;
  /** Called once the engine has the keys. */
  readonly onMended?: (() => void) | undefined;
}

export function KeysButton({ profile, onMended, ...look }: KeysButtonProps) {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLSpanElement>(null);
  const isUsed = useFocusHome(box);
  return (
    <span ref={box}>
      <Button
        {...look}
        onPress={() => {
          isUsed.current = true;
          setOpen(true);
        }}
      >
        Enter the keys
      </Button>
      {isOpen && (
        <KeysDialog
          profile={profile}
          onClose={() => setOpen(false)}
          onMended={() => {
            setOpen(false);
            onMended?.();
          }}
        />
      )}
    </span>
  );
}

interface KeysDialogProps {
  readonly profile: string;
  readonly onClose: () => void;
  readonly onMended: () => void;
}

function KeysDialog({ profile, onClose, onMended }: KeysDialogProps) {
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

/** Tells where typed keys are stored. */
export function keeperWords(keptBy: 'computer' | 'engine'): string {
  return keptBy === 'engine'
    ? 'Dray’s engine holds them in its memory until it ends, and asks again after that. No file has them, and this page does not keep them.'
    : 'Saved on this computer, encrypted by your system. No file of Dray shows them in plain text.';
}
