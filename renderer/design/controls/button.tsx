import './button.css';
import { type ReactNode, type Ref, useEffect, useRef, useState } from 'react';
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components/Button';
import { Link as AriaLink } from 'react-aria-components/Link';
import { Tooltip, TooltipTrigger } from 'react-aria-components/Tooltip';
import { flushSync } from 'react-dom';
import { Icon, type IconName } from '../icon.tsx';

/** `primary`: at most one per screen. `quiet`: no border until hovered. `danger`: destroys something. */
export type ButtonLook = 'primary' | 'plain' | 'quiet' | 'danger';

export interface ButtonProps extends Omit<AriaButtonProps, 'children' | 'className'> {
  readonly look?: ButtonLook;
  readonly size?: 'normal' | 'small';
  readonly icon?: IconName;
  readonly className?: string;
  readonly ref?: Ref<HTMLButtonElement>;
  readonly children: ReactNode;
}

/**
 * A button that starts an action, so a double click counts as one press: the browser counts the clicks, at
 * the user's own speed and however busy the page is. Any other press counts, even right after another one.
 *
 * With `isPending` it works on an earlier press, and takes no other one. It is not `isDisabled` then,
 * because a disabled button drops the focus, and with it the next key. The kit's own `isPending` announces
 * the button by its id, also when it has gone.
 */
export function Button({
  look = 'plain',
  size = 'normal',
  icon,
  children,
  className = '',
  isPending = false,
  onPress,
  ...rest
}: ButtonProps) {
  const clicks = useRef(0);
  return (
    <AriaButton
      {...rest}
      {...(isPending && { 'aria-disabled': true })}
      onPressStart={() => {
        clicks.current = 0;
      }}
      onClickCapture={({ detail }) => {
        clicks.current = detail;
      }}
      onPress={(event) => {
        if (clicks.current <= 1 && !isPending) onPress?.(event);
      }}
      className={`button button-${look} button-${size} ${isPending ? 'is-pending' : ''} ${className}`}
    >
      {icon && <Icon name={icon} />}
      {children}
    </AriaButton>
  );
}

export interface IconButtonProps extends Omit<AriaButtonProps, 'children' | 'className' | 'aria-label'> {
  readonly icon: IconName;
  /** Its name, for screen readers and as a tooltip. */
  readonly label: string;
  readonly size?: 'normal' | 'small';
  readonly className?: string;
}

export function IconButton({
  icon,
  label,
  size = 'normal',
  className = '',
  isPending = false,
  onPress,
  ...rest
}: IconButtonProps) {
  const [isNamed, setNamed] = useState(false);
  useEffect(() => {
    if (!isNamed) return;
    // The kit's tooltip takes the Escape for itself, and a dialog around it stays open. This comes first.
    const onKeyDown = ({ key }: KeyboardEvent) => {
      if (key === 'Escape') flushSync(() => setNamed(false));
    };
    addEventListener('keydown', onKeyDown, true);
    return () => removeEventListener('keydown', onKeyDown, true);
  }, [isNamed]);
  return (
    <TooltipTrigger delay={500} isOpen={isNamed} onOpenChange={setNamed}>
      <AriaButton
        {...rest}
        {...(isPending && { 'aria-disabled': true })}
        onPress={(event) => {
          if (!isPending) onPress?.(event);
        }}
        aria-label={label}
        className={`button button-quiet button-icon button-${size} ${isPending ? 'is-pending' : ''} ${className}`}
      >
        <Icon name={icon} />
      </AriaButton>
      <Tooltip className="tooltip" offset={6}>
        {label}
      </Tooltip>
    </TooltipTrigger>
  );
}

export interface LinkButtonProps {
  readonly href: string;
  readonly look?: ButtonLook;
  readonly icon?: IconName;
  readonly size?: 'normal' | 'small';
  readonly children: ReactNode;
}

/** A link to another screen that looks like a button. */
export function LinkButton({ href, look = 'plain', size = 'normal', icon, children }: LinkButtonProps) {
  return (
    <AriaLink href={href} className={`button button-${look} button-${size}`}>
      {icon && <Icon name={icon} />}
      {children}
    </AriaLink>
  );
}
