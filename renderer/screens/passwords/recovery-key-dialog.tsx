/** Shows a recovery key, once. It closes only after its reader says that the key is kept. */
import './passwords.css';
import { useState } from 'react';
import { Button } from '../../design/controls/button.tsx';
import { Checkbox } from '../../design/controls/field.tsx';
import { Dialog } from '../../design/overlays/dialog.tsx';
import { Notice } from '../../design/states.tsx';
import { copyText } from '../../shell/copy-text.ts';

export interface RecoveryKeyDialogProps {
  readonly name: string;
  readonly recoveryKey: string;
  /** The key is kept. */
  readonly onClose: () => void;
}

export function RecoveryKeyDialog({ name, recoveryKey, onClose }: RecoveryKeyDialogProps) {
  const [isKept, setKept] = useState(false);
  const [isWarned, setWarned] = useState(false);
  return (
    <Dialog
      title={`Recovery key of ${name}`}
      isOpen
      isForm
      onClose={() => (isKept ? onClose() : setWarned(true))}
      actions={
        <Button look="primary" isDisabled={!isKept} onPress={onClose}>
          Go on
        </Button>
      }
    >
      <div className="stack">
        <p>
          It opens the repository like a password. Without a password or this key nobody can read the
          repository, and nobody can help. It is not shown again.
        </p>
        <p className="row recovery-key">
          <output className="code grow" aria-label="Recovery key">
            {recoveryKey}
          </output>
          <Button icon="copy" onPress={() => void copyText(recoveryKey, 'the recovery key')}>
            Copy
          </Button>
        </p>
        <p className="small faint">
          Print it, or put it into a password manager, but not into this folder. Copy leaves it in the
          clipboard.
        </p>
        {isWarned && !isKept && (
          <Notice tone="warning">Keep the key first, and say so below. Then this can be closed.</Notice>
        )}
        <Checkbox isSelected={isKept} onChange={setKept} autoFocus>
          I have kept the key
        </Checkbox>
      </div>
    </Dialog>
  );
}
