import './menu.css';
import type { ReactNode } from 'react';
import {
  Menu as AriaMenu,
  MenuItem as AriaMenuItem,
  MenuSection,
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
  /** Set for each entry of a group of which one is in use. */
  readonly isChosen?: boolean;
  /** Set for each entry that turns something on and off. */
  readonly isOn?: boolean;
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
      {runsOf(actions).flatMap(({ mode, entries }) => {
        const items = entries.flatMap((action) => [
          ...(action.startsGroup ? [<Separator key={`above ${action.id}`} className="menu-line" />] : []),
          <Entry key={action.id} action={action} />,
        ]);
        if (mode === 'none') return items;
        return (
          <MenuSection
            key={`with ${entries[0]?.id}`}
            selectionMode={mode}
            selectedKeys={entries.filter(isMarked).map(({ id }) => id)}
            shouldCloseOnSelect
          >
            {items}
          </MenuSection>
        );
      })}
    </AriaMenu>
  );
}

function Entry({ action }: { readonly action: MenuAction }) {
  return (
    <AriaMenuItem
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
      {isMarked(action) && <Icon name="check" />}
    </AriaMenuItem>
  );
}

interface Run {
  /** What a screen reader says of each entry: nothing, one of a choice, or a box to tick. */
  readonly mode: 'none' | 'single' | 'multiple';
  readonly entries: MenuAction[];
}

/** Entries of one mode that follow each other. */
function runsOf(actions: readonly MenuAction[]): readonly Run[] {
  const runs: Run[] = [];
  for (const action of actions) {
    const mode = action.isChosen !== undefined ? 'single' : action.isOn !== undefined ? 'multiple' : 'none';
    const last = runs.at(-1);
    if (last?.mode === mode) last.entries.push(action);
    else runs.push({ mode, entries: [action] });
  }
  return runs;
}

function isMarked({ isChosen, isOn }: MenuAction): boolean {
  return isChosen ?? isOn ?? false;
}
