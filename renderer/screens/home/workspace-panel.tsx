import { missingPasswordOf } from '../../../engine/api/text/missing-keys.ts';
import { ErrorNotice } from '../../failures/failure.tsx';
import { failureWords } from '../../failures/failure-words.ts';
import { PasswordButton } from '../../failures/password-remedy.tsx';
import '../../design/card.css';
import './workspace-panel.css';
import { type ReactNode, useRef, useState } from 'react';
import type { WorkspaceCard } from '../../../engine/api/host/home.ts';
import type { ChangeTotals } from '../../../engine/api/jobs/jobs.ts';
import { formatBytes, formatCount } from '../../../engine/api/text/numbers.ts';
import { sumToPull, sumToPush } from '../../../engine/api/text/pending.ts';
import { Ago } from '../../design/ago.tsx';
import { Badge, type BadgeTone } from '../../design/badge.tsx';
import { Button, IconButton } from '../../design/controls/button.tsx';
import { Icon } from '../../design/icon.tsx';
import { ConfirmDialog } from '../../design/overlays/dialog.tsx';
import { Menu, type MenuAction } from '../../design/overlays/menu.tsx';
import { useDo, useRefresh } from '../../host/use-host.tsx';
import { goTo, type ScreenName } from '../../route.ts';
import { showFailure } from '../../shell/toasts/toasts.tsx';
import { LOOKED_AT_FILES_MAX, useIncomingOf, useStatus } from '../../shell/use-pending-changes.ts';
import { chooseWorkspace } from '../../shell/use-workspace.ts';
import { MidwayNotice, midwayWords } from '../refs/midway-notice.tsx';
import { RefSwitcher } from '../refs/ref-switcher.tsx';
import { addressOf, kindOf } from '../remotes/remote-item.tsx';
import { useStartVerify } from '../start-verify.ts';
import { NO_COMMIT_YET } from '../transfers/state-words.ts';
import { ScopeDialog } from './scope-dialog.tsx';
import { UnfinishedBadge, UnfinishedClone } from './unfinished-clone.tsx';
import { useFocusNext } from './use-focus-next.ts';

const LOOKED_AT_MS = 5_000;

export function WorkspacePanel({ workspace }: { readonly workspace: WorkspaceCard }) {
  const { root, name, state, branch, refusal, remotes, files, bytes, lastPush, only } = workspace;
  const [isForgetting, setForgetting] = useState(false);
  const [isRescoping, setRescoping] = useState(false);
  const card = useRef<HTMLElement>(null);
  const isForgotten = useFocusNext(card);
  const forget = useDo('home.removeWorkspace', {
    refreshes: ['home.list'],
    onError: (error) => {
      isForgotten.current = false;
      showFailure('The workspace was not removed', error);
    },
  });
  const refresh = useRefresh();
  const verify = useStartVerify();
  const remote = remotes.find(({ isDefault }) => isDefault);
  const open = (screen: ScreenName, given?: Readonly<Record<string, string>>) => {
    chooseWorkspace(root);
    goTo(screen, given);
  };
  const actions: readonly MenuAction[] = [
    ...(state === 'ready'
      ? [
          { id: 'history', label: 'History', icon: 'history' as const, onAction: () => open('history') },
          scopeAction(only, () => setRescoping(true)),
          { id: 'plan', label: 'Plan of a push', icon: 'plan' as const, onAction: () => open('plan') },
          {
            id: 'verify',
            label: 'Verify its remote',
            note: 'Does it have everything that its commits need?',
            icon: 'search' as const,
            onAction: () => verify({ name, root }),
          },
        ]
      : []),
    {
      id: 'forget',
      label: 'Forget this workspace',
      note: 'Its files stay',
      icon: 'close',
      startsGroup: state === 'ready',
      onAction: () => setForgetting(true),
    },
  ];
  return (
    // It takes the focus when the button that had it has gone.
    <article ref={card} className="card workspace" aria-label={name} tabIndex={-1}>
      <header className="workspace-head">
        <span className="switcher-mark" aria-hidden="true">
          {name.slice(0, 1).toUpperCase()}
        </span>
        <div className="grow">
          <h2 className="cut">{name}</h2>
          <p className="cut faint small" title={root}>
            {root}
          </p>
        </div>
        {state === 'missing' ? (
          <Badge tone="modified">Folder is gone</Badge>
        ) : state === 'foreign' ? (
          <Badge tone="modified">Not yours</Badge>
        ) : state === 'unfinished' ? (
          <UnfinishedBadge root={root} />
        ) : (
          <RefSwitcher root={root} branch={branch} midway={midwayWords(workspace)} />
        )}
        <Menu label={`More of ${name}`} actions={actions}>
          <IconButton icon="more" label={`More of ${name}`} size="small" />
        </Menu>
      </header>
      {state === 'unfinished' ? (
        <UnfinishedClone workspace={workspace} onForget={() => setForgetting(true)} />
      ) : state === 'missing' || state === 'foreign' ? (
        <>
          {refusal ? (
            <ErrorNotice tone="warning" error={refusal} />
          ) : (
            <p className="soft grow">
              The folder was moved, or its disk is not connected. Connect it, or forget the workspace. Pushed
              data is not lost.
            </p>
          )}
          <footer className="workspace-foot">
            <span className="grow" />
            <Button size="small" onPress={() => setForgetting(true)}>
              Forget
            </Button>
            <Button size="small" icon="refresh" onPress={() => void refresh('home.list')}>
              Check again
            </Button>
          </footer>
        </>
      ) : (
        <>
          <dl className="workspace-facts">
            <Fact label="Files" value={files === undefined ? NO_COMMIT_YET : formatCount(files)} />
            <Fact label="Size" value={bytes === undefined ? NO_COMMIT_YET : formatBytes(bytes)} />
            <Fact
              label="Last commit"
              value={lastPush === undefined ? NO_COMMIT_YET : <Ago moment={lastPush} />}
            />
          </dl>
          <p className="workspace-remote row faint small">
            <Icon name={kindOf(remote?.url ?? '').icon} />
            <span className="cut" title={remote?.url}>
              {remote ? `${remote.name}: ${addressOf(remote.url)}` : 'No remote'}
            </span>
            {remotes.length > 1 && <span>and {remotes.length - 1} more</span>}
          </p>
          {only && <Part root={root} only={only} onChange={() => setRescoping(true)} />}
          <MidwayNotice workspace={workspace} />
          <Pending root={root} />
          <footer className="workspace-foot">
            <Differences workspace={workspace} />
            <Button size="small" icon="download" onPress={() => open('changes', { direction: 'pull' })}>
              Pull
            </Button>
            <Button size="small" icon="upload" onPress={() => open('changes', { direction: 'push' })}>
              Push
            </Button>
          </footer>
        </>
      )}
      {isRescoping && <ScopeDialog name={name} root={root} only={only} onClose={() => setRescoping(false)} />}
      <ConfirmDialog
        title={`Forget ${name}?`}
        isOpen={isForgetting}
        onClose={() => setForgetting(false)}
        action="Forget"
        onConfirm={() => {
          isForgotten.current = true;
          forget.mutate({ root });
        }}
      >
        {state === 'unfinished'
          ? 'Its clone stops, and it no longer shows here. Files that have arrived stay in the folder.'
          : 'It no longer shows here. Its files, its versions and its remote stay as they are, and you can add it again.'}
      </ConfirmDialog>
    </article>
  );
}

function scopeAction(only: readonly string[] | undefined, onAction: () => void): MenuAction {
  const note = only ? 'A part of the dataset' : 'Everything';
  return { id: 'scope', label: 'What it holds', note, icon: 'folder', onAction };
}

/** What there is to pull and to push, and when the remote said so. */
function Pending({ root }: { readonly root: string }) {
  const look = useIncomingOf(root);
  if (!look) return null;
  const { answeredAt, failedAt, failure, hasIncoming, incoming, isGone } = look;
  const toPush = sumToPush([look]);
  const locked = failure && missingPasswordOf(failure);
  return (
    <p className="row faint small workspace-look">
      {hasIncoming && <Badge tone="accent">{incoming?.commits ? sumToPull([look])?.words : 'To pull'}</Badge>}
      {hasIncoming === false && !isGone && <span>Nothing to pull</span>}
      {isGone && <span>The branch is not on the remote any more</span>}
      {incoming?.isRewritten && (
        <span>
          {incoming.commits === 0
            ? 'The branch was moved back to an older commit'
            : 'The branch was rewritten: it no longer has your last commit'}
        </span>
      )}
      {toPush && <Badge tone="accent">{toPush.words}</Badge>}
      {answeredAt !== undefined && (
        <span>
          Checked <Ago moment={answeredAt} />
        </span>
      )}
      {locked && (
        <>
          <span>Locked</span>
          <PasswordButton size="small" look="plain" locked={locked} />
        </>
      )}
      {failure && !locked && failedAt !== undefined && (
        <span className="cut" title={failureWords(failure)}>
          The remote did not answer <Ago moment={failedAt} />: {failureWords(failure)}
        </span>
      )}
    </p>
  );
}

/** What a workspace holds that does not hold everything, and what lies here outside of that. */
function Part({
  root,
  only,
  onChange,
}: {
  readonly root: string;
  readonly only: readonly string[];
  readonly onChange: () => void;
}) {
  const { data } = useStatus(root, { when: false, freshMs: LOOKED_AT_MS });
  const { count = 0, paths = [] } = data?.scope?.outside ?? {};
  return (
    <p className="row faint small">
      <span className="cut" title={only.join('\n')}>
        Holds only {only.join(', ')}
      </span>
      <Button size="small" look="plain" onPress={onChange}>
        Change...
      </Button>
      {count > 0 && (
        <span title={paths.join('\n')}>
          {formatCount(count)} {count === 1 ? 'file' : 'files'} here outside of that: not pushed
        </span>
      )}
    </p>
  );
}

function Fact({ label, value }: { readonly label: string; readonly value: ReactNode }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{value}</dd>
    </div>
  );
}

/** The changes between the folder and its last commit. */
function Differences({ workspace: { root, files = 0 } }: { readonly workspace: WorkspaceCard }) {
  const [isAsked, setAsked] = useState(files <= LOOKED_AT_FILES_MAX);
  const { data, error } = useStatus(root, { when: isAsked, freshMs: LOOKED_AT_MS });
  if (!isAsked)
    return (
      <span className="grow">
        <Button size="small" look="quiet" icon="search" onPress={() => setAsked(true)}>
          Check for changes
        </Button>
      </span>
    );
  if (error)
    return (
      <span className="grow cut faint" title={failureWords(error)}>
        {failureWords(error)}
      </span>
    );
  if (!data) return <span className="grow faint">Checking for changes</span>;
  return <Counts changes={data.changes} />;
}

const COUNTS: readonly {
  readonly kind: keyof ChangeTotals;
  readonly word: string;
  readonly tone: BadgeTone;
}[] = [
  { kind: 'added', word: 'added', tone: 'added' },
  { kind: 'modified', word: 'changed', tone: 'modified' },
  { kind: 'deleted', word: 'deleted', tone: 'deleted' },
  { kind: 'renamed', word: 'renamed', tone: 'renamed' },
  { kind: 'mode', word: 'with another mode', tone: 'neutral' },
];

function Counts({ changes }: { readonly changes: ChangeTotals }) {
  const shown = COUNTS.filter(({ kind }) => changes[kind] > 0);
  if (shown.length === 0)
    return (
      <span className="grow row soft">
        <Icon name="check" />
        No changes
      </span>
    );
  return (
    <span className="grow workspace-counts">
      {shown.map(({ kind, word, tone }) => (
        <Badge key={kind} tone={tone}>
          {formatCount(changes[kind])} {word}
        </Badge>
      ))}
    </span>
  );
}
