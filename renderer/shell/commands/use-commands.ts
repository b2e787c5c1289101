/** The commands of the palette. */

import type { Settings } from '../../../engine/api/host/settings.ts';
import type { HostRequests } from '../../../engine/api/host.ts';
import { DESKTOP_SHORTCUTS } from '../../../engine/api/window/desktop-shortcuts.ts';
import type { IconName } from '../../design/icon.tsx';
import { useDo } from '../../host/use-host.tsx';
import { goTo, hrefOf, SCREEN_NAMES, type ScreenName } from '../../route.ts';
import { useStartVerify } from '../../screens/start-verify.ts';
import { useTransferChange } from '../../screens/transfers/use-change.ts';
import { applyDensity } from '../appearance/density.ts';
import { applyTheme } from '../appearance/theme.ts';
import { SCREENS } from '../screens.ts';
import { showFailure } from '../toasts/toasts.tsx';
import { chooseWorkspace, useWorkspaces } from '../use-workspace.ts';
import { SHORTCUT_KEY } from './shortcut-key.ts';

export interface Command {
  readonly id: string;
  readonly label: string;
  /** Where it belongs, or its subject. */
  readonly note: string;
  readonly icon: IconName;
  /** If the desktop's menu has them. */
  readonly keys?: string;
  readonly run: () => void;
}

export function useCommands(): readonly Command[] {
  const { all, current } = useWorkspaces();
  const others = (all ?? []).filter(({ root, state }) => state === 'ready' && root !== current?.root);
  const setTheme = useSetLook('theme', applyTheme);
  const setDensity = useSetLook('density', applyDensity);
  const changeAll = useChangeAll();
  const verify = useStartVerify();
  return [
    ...SCREEN_NAMES.map((name) => place(SCREENS[name].title, 'Screen', SCREENS[name].icon, name)),
    place('See what a push would do', 'Changes', 'upload', 'changes', { direction: 'push' }),
    place('See what a pull would do', 'Changes', 'download', 'changes', { direction: 'pull' }),
    ...others.map(({ root, name }) => ({
      id: `use ${root}`,
      label: `Use workspace ${name}`,
      note: root,
      icon: 'folder' as const,
      run: () => chooseWorkspace(root),
    })),
    place('Switch to another branch', 'History', 'branch', 'history', { do: 'switch' }),
    place('Rename, move or delete a branch or a tag', 'History', 'edit', 'history', { do: 'switch' }),
    place('Make a branch', 'History', 'branch', 'history', { do: 'branch' }),
    place('Make a tag', 'History', 'tag', 'history', { do: 'tag' }),
    place('Compare two versions', 'History', 'changes', 'history', { do: 'compare' }),
    place('Restore the last version', 'History', 'history', 'history', { do: 'restore' }),
    ...(current
      ? [
          {
            id: 'verify',
            label: `Verify the remote of ${current.name}`,
            note: 'Transfers',
            icon: 'search' as const,
            run: () => verify(current),
          },
          place('Save a push as a job', 'Jobs', 'jobs', 'jobs', {
            ...{ add: 'yes', kind: 'push', root: current.root },
          }),
          place('Save a pull as a job', 'Jobs', 'jobs', 'jobs', {
            ...{ add: 'yes', kind: 'pull', root: current.root },
          }),
        ]
      : []),
    place('New job', 'Jobs', 'plus', 'jobs', { add: 'yes' }),
    place('Add a workspace', 'Home', 'plus', 'home', { add: 'yes' }),
    place('Add a remote', 'Remotes', 'plus', 'remotes', { add: 'yes' }),
    changeAll('Pause all transfers', 'pause', 'pause'),
    changeAll('Resume all transfers', 'play', 'resume'),
    changeAll('Retry failed transfers', 'refresh', 'retry'),
    changeAll('Remove ended transfers from the list', 'close', 'remove'),
    setTheme('Light theme', 'light'),
    setTheme('Dark theme', 'dark'),
    setTheme('System theme', 'system'),
    setDensity('Comfortable rows', 'comfortable'),
    setDensity('Compact rows', 'compact'),
  ];
}

function place(
  label: string,
  note: string,
  icon: IconName,
  screen: ScreenName,
  given?: Readonly<Record<string, string>>,
): Command {
  const href = hrefOf(screen, given);
  const keys = keysOf(href);
  return { id: href, label, note, icon, ...(keys && { keys }), run: () => goTo(screen, given) };
}

/** Such as `Ctrl Shift U`. */
function keysOf(href: string): string | undefined {
  if (!window.dray) return undefined;
  const shortcuts: Readonly<Record<string, string>> = DESKTOP_SHORTCUTS;
  return shortcuts[href]?.replace('CmdOrCtrl', SHORTCUT_KEY).replaceAll('+', ' ');
}

type Looks = Pick<Settings, 'theme' | 'density'>;

/** @param apply Shows the choice at once. */
function useSetLook<N extends keyof Looks>(
  name: N,
  apply: (value: Looks[N]) => void,
): (label: string, value: Looks[N]) => Command {
  const save = useDo('settings.set', {
    refreshes: ['settings.get'],
    onError: (error) => showFailure(`The ${name} was not saved`, error),
  });
  return (label, value) => ({
    id: `${name} ${value}`,
    label,
    note: 'Settings',
    icon: 'settings',
    run: () => {
      apply(value);
      save.mutate({ [name]: value });
    },
  });
}

type Action = HostRequests['transfers.change']['input']['action'];

/** Applies to each transfer whose state allows it; skips the others. */
function useChangeAll(): (label: string, icon: IconName, action: Action) => Command {
  const change = useTransferChange();
  return (label, icon, action) => ({
    id: `all ${action}`,
    label,
    note: 'Transfers',
    icon,
    run: () =>
      void change({ ids: 'all', action }).catch((error: unknown) =>
        showFailure('The transfers did not change', error),
      ),
  });
}
