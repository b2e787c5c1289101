/**
 * The button beside an error that the user can mend here. It opens a dialog. Afterwards it disappears, and
 * the keyboard focus goes to the card, pane, dialog or screen around it.
 */
import { type ReactNode, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { Button, type ButtonProps } from '../design/controls/button.tsx';

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
        {label}
      </Button>
      {isOpen &&
        dialog({
          onClose: () => setOpen(false),
          onMended: () => {
            setOpen(false);
            onMended?.();
          },
        })}
    </span>
  );
}

/**
 * Sets the focus to what is around the box once its button was used and has gone.
 *
 * @param first What takes the focus if it is there, such as the list that the button has changed.
 */
export function useFocusHome(box: RefObject<HTMLElement | null>, first?: string): RefObject<boolean> {
  const isUsed = useRef(false);
  const home = useRef<HTMLElement>(null);
  useEffect(() => {
    home.current = box.current?.closest<HTMLElement>('.pane, .workspace, [role="dialog"], main') ?? null;
  }, [box]);
  useLayoutEffect(
    () => () => {
      if (!isUsed.current) return;
      // The dialog returns the focus in the next frame, when the button is gone.
      requestAnimationFrame(() =>
        requestAnimationFrame(() => {
          if (document.activeElement !== document.body) return;
          const within = first === undefined ? null : home.current?.querySelector<HTMLElement>(first);
          (within ?? home.current)?.focus();
        }),
      );
    },
    [first],
  );
  return isUsed;
}
