/**
 * A button that disappears once it was used, or while it has the focus. The focus then goes to what is around
 * it.
 */
import { useLayoutEffect, useRef } from 'react';
import { Button, type ButtonProps } from './button.tsx';
import { focusIfLost } from './focus-if-lost.ts';

/** The card, pane, dialog or screen. Each of them can take the focus. */
const AROUND = '.pane, .workspace, [role="dialog"], main';

export interface LeavingButtonProps extends ButtonProps {
  /** A selector of what takes the focus instead, if it is there: such as the list that the button changes. */
  readonly leadsTo?: string;
}

export function LeavingButton({ leadsTo, onPress, ...rest }: LeavingButtonProps) {
  const button = useRef<HTMLButtonElement>(null);
  const isUsed = useRef(false);
  useLayoutEffect(() => {
    const own = button.current;
    const around = own?.closest<HTMLElement>(AROUND);
    return () => {
      // At this time the page still has the button.
      if (!isUsed.current && document.activeElement !== own) return;
      focusIfLost(() => (leadsTo && around?.querySelector<HTMLElement>(leadsTo)) || around);
    };
  }, [leadsTo]);
  return (
    <Button
      {...rest}
      ref={button}
      onPress={(event) => {
        isUsed.current = true;
        onPress?.(event);
      }}
    />
  );
}
