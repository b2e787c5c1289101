import '../design/dialog.css';
import '../design/field.css';
import '../design/menu.css';
import './command-palette.css';
import { useEffect, useRef } from 'react';
import { Autocomplete, useFilter } from 'react-aria-components/Autocomplete';
import { Dialog } from 'react-aria-components/Dialog';
import { Input } from 'react-aria-components/Input';
import { Menu, MenuItem } from 'react-aria-components/Menu';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { SearchField } from 'react-aria-components/SearchField';
import { Icon } from '../design/icon.tsx';
import { useCommands } from './use-commands.ts';

export interface CommandPaletteProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  /** When it is gone from the page, and the focus is free again. */
  readonly onGone: () => void;
}

/** Every screen, and what can be done from anywhere, by a few letters of its name. */
export function CommandPalette({ isOpen, onClose, onGone }: CommandPaletteProps) {
  const { contains } = useFilter({ sensitivity: 'base' });
  const commands = useCommands();
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
          <Autocomplete filter={contains}>
            {/* The field scrolls with the list and stays in sight: what scrolls holds what the keyboard reaches. */}
            <div className="palette">
              <SearchField aria-label="Search commands" autoFocus className="palette-search">
                <Icon name="search" />
                <Input
                  className="search-input"
                  placeholder="Go to a screen, choose a workspace, do something"
                />
              </SearchField>
              <Menu
                className="menu"
                aria-label="Commands"
                items={commands}
                renderEmptyState={() => <p className="palette-none">Nothing has this name.</p>}
              >
                {({ id, label, note, icon, keys, run }) => (
                  <MenuItem
                    id={id}
                    textValue={`${label} ${note}`}
                    className="menu-item"
                    onAction={() => {
                      onClose();
                      run();
                    }}
                  >
                    <Icon name={icon} />
                    <span className="grow">{label}</span>
                    <span className="palette-note cut">{note}</span>
                    {keys && <kbd className="key">{keys}</kbd>}
                  </MenuItem>
                )}
              </Menu>
            </div>
          </Autocomplete>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

function Gone({ onGone }: { readonly onGone: () => void }) {
  const latest = useRef(onGone);
  latest.current = onGone;
  useEffect(() => () => latest.current(), []);
  return null;
}
