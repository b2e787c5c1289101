import './rail.css';
import { Button as AriaButton } from 'react-aria-components/Button';
import { formatCount } from '../../engine/api/text/numbers.ts';
import { type PendingSum, sumToPull, sumToPush } from '../../engine/api/text/pending.ts';
import { Icon, type IconName } from '../design/icon.tsx';
import { Menu } from '../design/overlays/menu.tsx';
import { useSavedJobs } from '../host/saved-jobs.tsx';
import { useTransfers } from '../host/use-host.tsx';
import { goTo, hrefOf, type ScreenName, useRoute } from '../route.ts';
import { SHORTCUT_KEY } from './commands/shortcut-key.ts';
import { SCREENS } from './screens.ts';
import { useIncoming, useOutgoing } from './use-pending-changes.ts';
import { chooseWorkspace, useWorkspaces } from './use-workspace.ts';

/** Screens about the chosen workspace; the others are about this computer. */
const OF_WORKSPACE: readonly ScreenName[] = ['changes', 'plan', 'history'];
const OF_COMPUTER: readonly ScreenName[] = [
  'transfers',
  'jobs',
  'fleet',
  'browse',
  'repositories',
  'remotes',
  'settings',
];

export function Rail({ onPalette }: { readonly onPalette: () => void }) {
  return (
    <aside className="rail">
      <WorkspaceSwitcher />
      <nav aria-label="Screens" className="rail-nav">
        <RailList screens={['home']} />
        <h2 className="rail-title">Workspace</h2>
        <RailList screens={OF_WORKSPACE} />
        <h2 className="rail-title">This computer</h2>
        <RailList screens={OF_COMPUTER} />
      </nav>
      <AriaButton className="rail-palette" onPress={onPalette}>
        <Icon name="command" />
        <span className="rail-word grow">Commands</span>
        <kbd className="rail-word key">{SHORTCUT_KEY} K</kbd>
      </AriaButton>
    </aside>
  );
}

/** Over an icon there is no room for more digits. */
const SHORT_COUNT_MAX = 99;
/** Nor beside another number. */
const PAIRED_COUNT_MAX = 999;

/** A number beside a screen's name, with its unit. */
interface RailCount extends PendingSum {
  /** Tells two numbers of one screen apart. */
  readonly icon?: IconName;
  /** True: a narrow rail has no room for it, and leaves it to screen readers. */
  readonly isWideOnly?: boolean;
}

function useRailCounts(): Partial<Record<ScreenName, readonly (RailCount | undefined)[]>> {
  const { current } = useWorkspaces();
  const looks = useIncoming();
  const toPull = sumToPull(looks);
  const toPush = sumToPush(looks);
  const outgoing = useOutgoing(current);
  const running =
    useTransfers()?.filter(({ state }) => state === 'running' || state === 'waiting').length ?? 0;
  const jobs = useSavedJobs()?.jobs.filter(({ state }) => state === 'running').length ?? 0;
  return {
    home: [
      toPull && { ...toPull, icon: 'download' },
      toPush && { ...toPush, icon: 'upload', isWideOnly: true },
    ],
    changes: [sumToPush(outgoing === undefined ? [] : [{ outgoing }])],
    transfers: [countOf(running, 'under way')],
    jobs: [countOf(jobs, 'running')],
  };
}

function countOf(count: number, unit: string): RailCount | undefined {
  return count === 0 ? undefined : { count, isMore: false, words: `${formatCount(count)} ${unit}` };
}

function RailList({ screens }: { readonly screens: readonly ScreenName[] }) {
  const { screen: here } = useRoute();
  const counts = useRailCounts();
  return (
    <ul>
      {screens.map((screen) => {
        const { title, icon } = SCREENS[screen];
        const shown = counts[screen]?.filter((count) => count !== undefined) ?? [];
        return (
          <li key={screen}>
            <a
              className="rail-link"
              href={hrefOf(screen)}
              aria-current={screen === here ? 'page' : undefined}
              title={title}
            >
              <Icon name={icon} />
              <span className="rail-word grow">{title}</span>
              {shown.map((count) => (
                <CountPill key={count.icon ?? screen} count={count} />
              ))}
            </a>
          </li>
        );
      })}
    </ul>
  );
}

function CountPill({ count: { count, icon, isMore, isWideOnly, words } }: { readonly count: RailCount }) {
  const cut = (max: number) =>
    count > max ? `${formatCount(max)}+` : `${formatCount(count)}${isMore ? '+' : ''}`;
  return (
    <span className={isWideOnly ? 'rail-count rail-count-wide' : 'rail-count'} title={words}>
      <span aria-hidden className="rail-count-long">
        {icon && <Icon name={icon} size={12} />}
        {cut(icon ? PAIRED_COUNT_MAX : Number.POSITIVE_INFINITY)}
      </span>
      <span aria-hidden className="rail-count-short">
        {cut(SHORT_COUNT_MAX)}
      </span>
      <span className="unseen"> {words}</span>
    </span>
  );
}

function WorkspaceSwitcher() {
  const { all, current } = useWorkspaces();
  const icon: IconName = 'folder';
  const ready = all?.filter(({ state }) => state === 'ready') ?? [];
  return (
    <Menu
      label="Workspaces"
      actions={[
        ...ready.map(({ root, name }) => ({
          id: root,
          label: name,
          note: root,
          icon,
          isChosen: root === current?.root,
          onAction: () => chooseWorkspace(root),
        })),
        {
          id: 'add',
          label: 'Add a workspace',
          icon: 'plus',
          startsGroup: ready.length > 0,
          onAction: () => goTo('home', { add: 'yes' }),
        },
      ]}
    >
      <AriaButton className="switcher">
        <span className="unseen">Workspace </span>
        <span className="switcher-mark" aria-hidden="true">
          {(current?.name ?? 'D').slice(0, 1).toUpperCase()}
        </span>
        <span className="rail-word grow">
          <span className="switcher-name cut">{current?.name ?? 'Dray'}</span>
          <span className="switcher-branch cut">{current?.branch ?? 'No workspace'}</span>
        </span>
        <span className="rail-word">
          <Icon name="chevronDown" size={12} />
        </span>
      </AriaButton>
    </Menu>
  );
}
