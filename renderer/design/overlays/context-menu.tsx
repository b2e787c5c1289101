/** A context menu, opened by the right button, the Menu key, or Shift and F10. */
import { type ReactNode, type SyntheticEvent, useLayoutEffect, useRef, useState } from 'react';
import { Popover } from 'react-aria-components/Popover';
import { focusIfLost } from '../controls/focus-if-lost.ts';
import { type MenuAction, MenuList } from './menu.tsx';

export interface ContextActions {
  /** The menu's name for screen readers, such as `For notes.md`. */
  readonly label: string;
  readonly actions: readonly MenuAction[];
}

export interface ContextMenuProps {
  /** The actions for the element. Undefined leaves the browser's own menu. */
  readonly actionsAt: (element: Element) => ContextActions | undefined;
  readonly children: ReactNode;
}

interface OpenMenu extends ContextActions {
  readonly x: number;
  readonly y: number;
  readonly isByKey: boolean;
  /** What had the focus before. */
  readonly focused: Element | null;
}

/** Adds no box of its own, so it can wrap any list. */
export function ContextMenu({ actionsAt, children }: ContextMenuProps) {
  const anchor = useRef<HTMLSpanElement>(null);
  const [menu, setMenu] = useState<OpenMenu>();
  const [isOpen, setOpen] = useState(false);
  const show = (event: SyntheticEvent, at: { readonly x: number; readonly y: number } | undefined): void => {
    const element = at ? (event.target as Element) : focusedPart(event.target as Element);
    const found = actionsAt(element);
    if (!found || found.actions.length === 0) return;
    event.preventDefault();
    event.stopPropagation();
    const { activeElement: focused } = document;
    setMenu({ ...found, ...(at ?? startOf(element)), isByKey: at === undefined, focused });
    setOpen(true);
  };
  return (
    <>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the rows inside have the focus and the roles */}
      <div
        className="context-area"
        onContextMenu={(event) => {
          // A key opens it as well, and browsers then give no position.
          const isPointed = event.clientX > 0 || event.clientY > 0;
          show(event, isPointed ? { x: event.clientX, y: event.clientY } : undefined);
        }}
        onKeyDown={(event) => {
          if (event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey)) show(event, undefined);
        }}
      >
        {children}
      </div>
      <span
        ref={anchor}
        className="context-anchor"
        aria-hidden="true"
        style={{ left: menu?.x ?? 0, top: menu?.y ?? 0 }}
      />
      <Popover
        className="popover"
        aria-label={menu?.label ?? ''}
        triggerRef={anchor}
        placement="bottom start"
        offset={2}
        isOpen={isOpen}
        onOpenChange={setOpen}
      >
        {menu && (
          <>
            <FocusAround focused={menu.focused} />
            <MenuList
              label={menu.label}
              actions={menu.actions}
              autoFocus={menu.isByKey ? 'first' : true}
              onClose={() => setOpen(false)}
            />
          </>
        )}
      </Popover>
    </>
  );
}

/** If an action of the menu hides what had the focus, the focus goes to what is around that. */
function FocusAround({ focused }: Pick<OpenMenu, 'focused'>) {
  useLayoutEffect(
    () => () => focusIfLost(() => focused?.parentElement?.closest<HTMLElement>('[tabindex]')),
    [focused],
  );
  return null;
}

/** The key that the list gave to the row, for `actionsAt`. */
export function keyOfRow(element: Element): string | undefined {
  return element.closest('[role="row"][data-key]')?.getAttribute('data-key') ?? undefined;
}

/** In a virtual grid, the grid has the focus and `aria-activedescendant` names the row. */
function focusedPart(element: Element): Element {
  const active = element.getAttribute('aria-activedescendant');
  return (active === null ? undefined : document.getElementById(active)) ?? element;
}

function startOf(element: Element): { readonly x: number; readonly y: number } {
  const { bottom, left } = (element.closest('[role="row"]') ?? element).getBoundingClientRect();
  return { x: left + 24, y: bottom - 4 };
}
