import './menu.css';
import type { ReactNode } from 'react';
import {
  Menu as AriaMenu,
  MenuItem as AriaMenuItem,
  MenuTrigger,
  Separator,
} from 'react-aria-components/Menu';
import { Popover } from 'react-aria-components/Popover';
import { Icon, type IconName } from '../icon.tsx';

export interface MenuAction {
  readonly id: string;
  readonly label: string;
  readonly note?: string;
  readonly icon?: IconName;
  readonly isDanger?: boolean;
  readonly isDisabled?: boolean;
  readonly isChosen?: boolean;
  /** Draws a line above it. */
  readonly startsGroup?: boolean;
  readonly onAction: () => void;
}

export interface MenuProps {
  /** Its name for screen readers. */
  readonly label: string;
  readonly actions: readonly MenuAction[];
  /** The button that opens it. */
  readonly children: ReactNode;
}

export function Menu({ label, actions, children }: MenuProps) {
  return (
    <MenuTrigger>
      {children}
      <Popover className="popover" offset={4}>
        <MenuList label={label} actions={actions} />
      </Popover>
    </MenuTrigger>
  );
}

export interface MenuListProps extends Omit<MenuProps, 'children'> {
  /** Moves the focus to the first entry, or to the menu itself, so it receives keys. */
  readonly autoFocus?: 'first' | true;
  readonly onClose?: () => void;
}

/** The menu without its button, for a popover that another element opens. */
export function MenuList({ label, actions, autoFocus, onClose }: MenuListProps) {
  return (
    <AriaMenu
      className="menu"
      aria-label={label}
      {...(autoFocus && { autoFocus })}
      {...(onClose && { onClose })}
    >
      {actions.flatMap((action) => [
        ...(action.startsGroup ? [<Separator key={`above ${action.id}`} className="menu-line" />] : []),
        <AriaMenuItem
          key={action.id}
          id={action.id}
          textValue={action.label}
          className={`menu-item ${action.isDanger ? 'menu-item-danger' : ''}`}
          isDisabled={action.isDisabled ?? false}
          onAction={action.onAction}
        >
          {action.icon && <Icon name={action.icon} />}
          <span className="grow">
            <span className="menu-item-label">{action.label}</span>
            {action.note !== undefined && <span className="menu-item-note cut">{action.note}</span>}
          </span>
          {action.isChosen && <Icon name="check" />}
        </AriaMenuItem>,
      ])}
    </AriaMenu>
  );
}
