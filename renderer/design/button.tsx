import './button.css';
import type { ReactNode } from 'react';
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

export function Button({
  look = 'plain',
  size = 'normal',
  icon,
  children,
  className = '',
  ...rest
}: ButtonProps) {
  return (
    <AriaButton {...rest} className={`button button-${look} button-${size} ${className}`}>
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
