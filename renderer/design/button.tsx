import './button.css';
import { type ReactNode, useRef } from 'react';
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components/Button';
import { Link as AriaLink } from 'react-aria-components/Link';
import { Tooltip, TooltipTrigger } from 'react-aria-components/Tooltip';
import { Icon, type IconName } from './icon.tsx';

/** `primary`: one a screen, at most. `quiet`: no border until it is pointed at. `danger`: destroys something. */
export type ButtonLook = 'primary' | 'plain' | 'quiet' | 'danger';

export interface ButtonProps extends Omit<AriaButtonProps, 'children' | 'className'> {
  readonly look?: ButtonLook;
  readonly size?: 'normal' | 'small';
  readonly icon?: IconName;
  readonly className?: string;
  readonly children: ReactNode;
}

/**
 * Starts something, so a double click is one press: the browser counts the clicks, by the user's own speed and however
 * busy the page is. Any other press counts, also one that follows the last one at once.
 */
export function Button({
  look = 'plain',
  size = 'normal',
  icon,
  children,
  className = '',
  onPress,
  ...rest
}: ButtonProps) {
  const clicks = useRef(0);
  return (
    <AriaButton
      {...rest}
      onPressStart={() => {
        clicks.current = 0;
      }}
      onClickCapture={({ detail }) => {
        clicks.current = detail;
      }}
      onPress={(event) => {
        if (clicks.current <= 1) onPress?.(event);
      }}
      className={`button button-${look} button-${size} ${className}`}
    >
      {icon && <Icon name={icon} />}
      {children}
    </AriaButton>
  );
}

export interface IconButtonProps extends Omit<AriaButtonProps, 'children' | 'className' | 'aria-label'> {
  readonly icon: IconName;
  /** Its name, read out and shown when it is pointed at. */
  readonly label: string;
  readonly size?: 'normal' | 'small';
  readonly className?: string;
}

export function IconButton({ icon, label, size = 'normal', className = '', ...rest }: IconButtonProps) {
  return (
    <TooltipTrigger delay={500}>
      <AriaButton
        {...rest}
        aria-label={label}
        className={`button button-quiet button-icon button-${size} ${className}`}
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

/** Leads to another screen, and looks like a button. */
export function LinkButton({ href, look = 'plain', size = 'normal', icon, children }: LinkButtonProps) {
  return (
    <AriaLink href={href} className={`button button-${look} button-${size}`}>
      {icon && <Icon name={icon} />}
      {children}
    </AriaLink>
  );
}
