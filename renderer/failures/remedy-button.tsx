/**
 * The button beside an error that the user can mend here. It opens a dialog, and disappears once the error is
 * mended.
 */
import { type ReactNode, useState } from 'react';
import type { ButtonProps } from '../design/controls/button.tsx';
import { LeavingButton } from '../design/controls/leaving-button.tsx';

export interface RemedyProps {
  readonly size?: NonNullable<ButtonProps['size']>;
  readonly look?: NonNullable<ButtonProps['look']>;
  /** Called once the error is mended, such as to retry what failed. */
  readonly onMended?: (() => void) | undefined;
}

export interface RemedyDialogProps {
  readonly onClose: () => void;
  readonly onMended: () => void;
}

export interface RemedyButtonProps extends RemedyProps {
  readonly label: string;
  readonly dialog: (props: RemedyDialogProps) => ReactNode;
}

export function RemedyButton({ label, dialog, onMended, ...look }: RemedyButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <LeavingButton {...look} onPress={() => setOpen(true)}>
        {label}
      </LeavingButton>
      {isOpen &&
        dialog({
          onClose: () => setOpen(false),
          onMended: () => {
            setOpen(false);
            onMended?.();
          },
        })}
    </>
  );
}
