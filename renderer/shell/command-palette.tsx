import '../design/dialog.css';
import '../design/field.css';
import '../design/menu.css';
import './command-palette.css';
import { Autocomplete, useFilter } from 'react-aria-components/Autocomplete';
import { Dialog } from 'react-aria-components/Dialog';
import { Input } from 'react-aria-components/Input';
import { Menu, MenuItem, Text } from 'react-aria-components/Menu';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { SearchField } from 'react-aria-components/SearchField';
import { Icon, type IconName } from '../design/icon.tsx';
import { useDo } from '../host/use-host.tsx';
import { goTo, SCREEN_NAMES } from '../route.ts';
import { SCREENS } from './screens.ts';
import { applyTheme } from './theme.ts';
import { chooseWorkspace, useWorkspaces } from './use-workspace.ts';

interface Command {
  readonly id: string;
  readonly label: string;
  readonly note: string;
  readonly icon: IconName;
  readonly run: () => void;
}

export function CommandPalette({
  isOpen,
  onClose,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}) {
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
          <Autocomplete filter={contains}>
            <SearchField aria-label="Search commands" autoFocus className="palette-search">
              <Icon name="search" />
              <Input
                className="search-input"
                placeholder="Go to a screen, choose a workspace, do something"
              />
            </SearchField>
            <Menu
              className="menu palette-list"
              aria-label="Commands"
              items={commands}
              renderEmptyState={() => <p className="palette-none">Nothing has this name.</p>}
            >
              {({ id, label, note, icon, run }) => (
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
                  <Text slot="label" className="grow">
                    {label}
                  </Text>
                  <Text slot="description" className="faint small cut">
                    {note}
                  </Text>
                </MenuItem>
              )}
            </Menu>
          </Autocomplete>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

function useCommands(): readonly Command[] {
  const { all, current } = useWorkspaces();
  const change = useDo('transfers.change');
  const save = useDo('settings.set', { refreshes: ['settings.get'] });
  const setTheme = (theme: 'system' | 'light' | 'dark') => {
    applyTheme(theme);
    save.mutate({ theme });
  };
  const screens = SCREEN_NAMES.map((name) => ({
    id: `go ${name}`,
    label: SCREENS[name].title,
    note: 'Screen',
    icon: SCREENS[name].icon,
    run: () => goTo(name),
  }));
  const workspaces = (all ?? [])
    .filter(({ state, root }) => state === 'ready' && root !== current?.root)
    .map(({ root, name }) => ({
      id: `use ${root}`,
      label: `Use workspace ${name}`,
      note: root,
      icon: 'folder' as const,
      run: () => chooseWorkspace(root),
    }));
  return [
    ...screens,
    {
      id: 'push',
      label: 'See what a push would do',
      note: 'Changes',
      icon: 'upload',
      run: () => goTo('changes', { direction: 'push' }),
    },
    {
      id: 'pull',
      label: 'See what a pull would do',
      note: 'Changes',
      icon: 'download',
      run: () => goTo('changes', { direction: 'pull' }),
    },
    ...workspaces,
    {
      id: 'add',
      label: 'Add a workspace',
      note: 'Home',
      icon: 'plus',
      run: () => goTo('home', { add: 'yes' }),
    },
    {
      id: 'pause',
      label: 'Pause all transfers',
      note: 'Transfers',
      icon: 'pause',
      run: () => change.mutate({ ids: 'all', action: 'pause' }),
    },
    {
      id: 'resume',
      label: 'Resume all transfers',
      note: 'Transfers',
      icon: 'play',
      run: () => change.mutate({ ids: 'all', action: 'resume' }),
    },
    ...(['light', 'dark', 'system'] as const).map((theme) => ({
      id: `theme ${theme}`,
      label: theme === 'system' ? 'Theme of the system' : `${theme === 'light' ? 'Light' : 'Dark'} theme`,
      note: 'Settings',
      icon: 'settings' as const,
      run: () => setTheme(theme),
    })),
  ];
}
