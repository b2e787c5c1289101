import './dialog.css';
import { type ReactNode, useState } from 'react';
import { Dialog as AriaDialog } from 'react-aria-components/Dialog';
import { Heading } from 'react-aria-components/Heading';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { escapeUnsafe } from '../../../engine/api/text/outside-text.ts';
import { Button, IconButton } from '../controls/button.tsx';
import { Field } from '../controls/field.tsx';

export interface DialogProps {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly size?: 'small' | 'normal' | 'large';
  /** The dialog has input fields: a click outside, which may be a slip, does not close it. */
  readonly isForm?: boolean;
  /** Buttons at the foot, the main one last. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/**
 * A dialog over the window. It traps the focus and gives it back. Escape closes it; so does a click outside,
 * unless it is a form.
 */
export function Dialog({
  title,
  isOpen,
  onClose,
  size = 'normal',
  isForm = false,
  actions,
  children,
}: DialogProps) {
  return (
    <ModalOverlay
      className="scrim"
      isDismissable={!isForm}
      isOpen={isOpen}
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
    >
      <Modal className={`modal modal-${size}`}>
        <AriaDialog className="dialog">
          <header className="dialog-head">
            <Heading slot="title" level={2} className="grow">
              {title}
            </Heading>
            <IconButton icon="close" label="Close" size="small" onPress={onClose} />
          </header>
          <div className="dialog-body">{children}</div>
          {actions !== undefined && <footer className="dialog-foot">{actions}</footer>}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

export interface FormDialogProps {
  readonly title: string;
  readonly size?: DialogProps['size'];
  readonly onClose: () => void;
  /** The verb: `Create folder`. */
  readonly action: string;
  readonly onSubmit: () => void;
  readonly isDisabled?: boolean;
  /** True while the submitted form is processed. The dialog accepts no input then. */
  readonly isPending?: boolean;
  /** Between Cancel and the action. */
  readonly extraActions?: ReactNode;
  readonly children: ReactNode;
}

/** Fields to fill in. The button or Enter in any field submits them. */
export function FormDialog({
  title,
  size = 'normal',
  onClose,
  action,
  onSubmit,
  isDisabled = false,
  isPending = false,
  extraActions,
  children,
}: FormDialogProps) {
  return (
    <Dialog
      title={title}
      isOpen
      isForm
      onClose={onClose}
      size={size}
      actions={
        <>
          <Button onPress={onClose}>Cancel</Button>
          {extraActions}
          <Button look="primary" isDisabled={isDisabled} isPending={isPending} onPress={onSubmit}>
            {action}
          </Button>
        </>
      }
    >
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          // React also passes the event to a form that contains this dialog.
          event.stopPropagation();
          if (!isDisabled && !isPending) onSubmit();
        }}
      >
        {children}
        {/* Without one, Enter sends no form of more than one field. */}
        <button type="submit" hidden aria-hidden="true" tabIndex={-1} />
      </form>
    </Dialog>
  );
}

export interface ConfirmDialogProps {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  /** The verb: `Delete 12 files`. */
  readonly action: string;
  readonly onConfirm: () => void;
  readonly isDanger?: boolean;
  /** A word that the user must type before the action is enabled. */
  readonly typed?: string;
  readonly children: ReactNode;
}

export function ConfirmDialog({
  title,
  isOpen,
  onClose,
  action,
  onConfirm,
  isDanger = false,
  typed,
  children,
}: ConfirmDialogProps) {
  const [word, setWord] = useState('');
  const close = () => {
    setWord('');
    onClose();
  };
  return (
    <Dialog
      title={title}
      isOpen={isOpen}
      onClose={close}
      size="small"
      isForm={typed !== undefined}
      actions={
        <>
          <Button onPress={close}>Cancel</Button>
          <Button
            look={isDanger ? 'danger' : 'primary'}
            isDisabled={typed !== undefined && word !== typed && word !== escapeUnsafe(typed)}
            onPress={() => {
              close();
              onConfirm();
            }}
          >
            {action}
          </Button>
        </>
      }
    >
      <div className="stack">
        <div>{children}</div>
        {typed !== undefined && (
          <Field label={`Type "${typed}" to continue`} value={word} onChange={setWord} autoFocus isCode />
        )}
      </div>
    </Dialog>
  );
}
