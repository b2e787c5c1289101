import '../../design/overlays/dialog.css';
import '../../design/controls/field.css';
import '../../design/overlays/menu.css';
import './command-palette.css';
import {
  type KeyboardEvent,
  type RefObject,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { useFilter } from 'react-aria-components/Autocomplete';
import { Dialog } from 'react-aria-components/Dialog';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { Icon } from '../../design/icon.tsx';
import { type Command, useCommands } from './use-commands.ts';

export interface CommandPaletteProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  /** Called when the palette has left the page and the focus is free again. */
  readonly onGone: () => void;
}

/** Finds every screen and every global command by a few letters of its name. */
export function CommandPalette({ isOpen, onClose, onGone }: CommandPaletteProps) {
  return (
    <ModalOverlay
      className="scrim palette-scrim"
      isDismissable
      isOpen={isOpen}
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
    >
      <Modal className="modal modal-normal">
        <Dialog className="dialog" aria-label="Commands">
          <Gone onGone={onGone} />
          <Commands isOpen={isOpen} onClose={onClose} />
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

/**
 * The field and its list are one component. React finishes the work of one key before it takes the next, so
 * each key sees the list that earlier keys left. The kit's own list marks its first command in a later
 * render.
 */
function Commands({ isOpen, onClose }: Pick<CommandPaletteProps, 'isOpen' | 'onClose'>) {
  const { contains } = useFilter({ sensitivity: 'base' });
  const all = useCommands();
  const [typed, setTyped] = useState('');
  const [marked, setMarked] = useState<string>();
  const listId = useId();
  const field = useRef<HTMLInputElement>(null);
  // On a busy machine the palette may open again before it has left the page. It then starts again, with the
  // focus.
  useLayoutEffect(() => {
    if (!isOpen) return;
    setTyped('');
    setMarked(undefined);
    field.current?.focus();
  }, [isOpen]);
  useFocusOverDialogs(field, isOpen);
  const shown = all.filter(({ label, note }) => contains(`${label} ${note}`, typed));
  const at = shown.findIndex(({ id }) => id === marked);
  /** If the filter removes the marked command, or the user types, the first one is marked. */
  const current = at >= 0 ? at : typed === '' || shown.length === 0 ? -1 : 0;
  const run = (command: Command): void => {
    onClose();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return;
    const last = shown.length - 1;
    const next = {
      ArrowDown: current >= last ? 0 : current + 1,
      ArrowUp: current <= 0 ? last : current - 1,
    }[event.key];
    if (next !== undefined) setMarked(shown[next]?.id);
    else if (event.key === 'Enter' && shown[current]) run(shown[current]);
    else if (event.key === 'Escape') onClose();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    // The field scrolls with the list and stays visible: the element that scrolls holds the focus.
    <div className="palette">
      <div className="palette-search">
        <Icon name="search" />
        <input
          ref={field}
          type="search"
          className="search-input"
          aria-label="Search commands"
          aria-autocomplete="list"
          aria-controls={shown.length === 0 ? undefined : listId}
          aria-activedescendant={current >= 0 ? itemId(listId, current) : undefined}
          autoComplete="off"
          placeholder="Go to a screen, choose a workspace, do something"
          value={typed}
          onChange={({ target }) => {
            setTyped(target.value);
            setMarked(undefined);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      {shown.length === 0 ? (
        <p className="palette-none">No command matches.</p>
      ) : (
        <div id={listId} className="menu" role="menu" aria-label="Commands">
          {shown.map((command, index) => (
            <CommandItem
              key={command.id}
              id={itemId(listId, index)}
              command={command}
              isMarked={index === current}
              onMark={() => setMarked(command.id)}
              onRun={() => run(command)}
            />
          ))}
        </div>
      )}
    </div>
  );
}

/**
 * A dialog below the palette takes the focus back until the kit has hidden it. So the field takes it again
 * after that, and at each key, before the key's letter goes anywhere.
 */
function useFocusOverDialogs(field: RefObject<HTMLInputElement | null>, isOpen: boolean): void {
  useEffect(() => {
    if (!isOpen) return;
    const takeFocus = () => field.current?.focus();
    const frame = requestAnimationFrame(takeFocus);
    addEventListener('keydown', takeFocus, { capture: true });
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener('keydown', takeFocus, { capture: true });
    };
  }, [field, isOpen]);
}

interface CommandItemProps {
  readonly id: string;
  readonly command: Command;
  readonly isMarked: boolean;
  readonly onMark: () => void;
  readonly onRun: () => void;
}

function CommandItem({ id, command, isMarked, onMark, onRun }: CommandItemProps) {
  const item = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isMarked) item.current?.scrollIntoView({ block: 'nearest' });
  }, [isMarked]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard stays in the field, which runs the marked command
    <div
      ref={item}
      id={id}
      role="menuitem"
      tabIndex={-1}
      className="menu-item"
      data-focused={isMarked || undefined}
      // The focus stays in the field.
      onMouseDown={(event) => event.preventDefault()}
      onMouseMove={isMarked ? undefined : onMark}
      onClick={onRun}
    >
      <Icon name={command.icon} />
      <span className="grow">{command.label}</span>
      <span className="palette-note cut">{command.note}</span>
      {command.keys && <kbd className="key">{command.keys}</kbd>}
    </div>
  );
}

function itemId(listId: string, index: number): string {
  return `${listId}${index}`;
}

function Gone({ onGone }: { readonly onGone: () => void }) {
  const latest = useRef(onGone);
  latest.current = onGone;
  useEffect(() => () => latest.current(), []);
  return null;
}
