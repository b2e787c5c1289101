/** Asks for the name of a repository before its stored objects are changed. */
import { ConfirmDialog } from '../../design/overlays/dialog.tsx';
import { isTypable } from './places.ts';

export interface RepositoryDialogProps {
  readonly name: string;
  /** The verb: `Delete`. */
  readonly action: string;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

export function RepositoryDialog({ action, name, onClose, onConfirm }: RepositoryDialogProps) {
  return (
    <ConfirmDialog
      title={`${name} is a Dray repository`}
      isOpen
      isDanger
      onClose={onClose}
      action={action}
      typed={isTypable(name) ? name : 'repository'}
      onConfirm={onConfirm}
    >
      <p>
        This changes the stored objects of <strong>{name}</strong>. Versions of your data may be lost.
        Deleting it loses all of them. To add a version, push to it instead.
      </p>
    </ConfirmDialog>
  );
}
