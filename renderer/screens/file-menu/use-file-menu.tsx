/** The context menu of a file or folder, shared by all lists, and the dialogs that it opens. */
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { formatAgo } from '../../design/format.ts';
import type { ContextActions } from '../../design/overlays/context-menu.tsx';
import type { MenuAction } from '../../design/overlays/menu.tsx';
import type { ReconnectingHost } from '../../host/reconnecting-host.ts';
import { useHost } from '../../host/use-host.tsx';
import { copyText } from '../../shell/copy-text.ts';
import { showFailure, showToast } from '../../shell/toasts/toasts.tsx';
import { authorName, subjectOf } from '../history/commit-words.ts';
import type { FileSubject } from './file-subject.ts';
import { useDiscard } from './use-discard.ts';

const PathHistoryDialog = lazy(async () => ({
  default: (await import('../history/path-history-dialog.tsx')).PathHistoryDialog,
}));
const IgnoreDialog = lazy(async () => ({ default: (await import('./ignore-dialog.tsx')).IgnoreDialog }));

type Versions = NonNullable<FileSubject['versions']>;
type Opened =
  | { readonly shows: 'history'; readonly of: Versions }
  | { readonly shows: 'ignore'; readonly of: NonNullable<FileSubject['inWorkspace']> };

interface OwnActions {
  readonly first?: readonly MenuAction[];
  readonly last?: readonly MenuAction[];
}

export interface FileMenu {
  /** @param own The row's own actions, above and below those of every file. */
  readonly menuOf: (subject: FileSubject, own?: OwnActions) => ContextActions;
  readonly dialogs: ReactNode;
}

export function useFileMenu(): FileMenu {
  const host = useHost();
  const [opened, setOpened] = useState<Opened>();
  const discard = useDiscard();
  const close = () => setOpened(undefined);
  return {
    menuOf: (subject, { first = [], last = [] } = {}) => ({
      label: `For ${subject.name}`,
      actions: inGroups(
        first,
        versionActions(subject, host, setOpened),
        copyActions(subject),
        changeActions(subject, setOpened, discard),
        last,
      ),
    }),
    dialogs: opened && (
      <Suspense>
        {opened.shows === 'history' ? (
          <PathHistoryDialog {...opened.of} onClose={close} />
        ) : (
          <IgnoreDialog {...opened.of} onClose={close} />
        )}
      </Suspense>
    ),
  };
}

function inGroups(...groups: readonly (readonly MenuAction[])[]): readonly MenuAction[] {
  return groups
    .filter((group) => group.length > 0)
    .flatMap((group, at) => group.map((one, index) => ({ ...one, startsGroup: at > 0 && index === 0 })));
}

function versionActions(
  { isNew = false, versions }: FileSubject,
  host: ReconnectingHost,
  open: (opened: Opened) => void,
): readonly MenuAction[] {
  if (!versions) return [];
  const none = isNew ? { isDisabled: true, note: 'No commit has it yet' } : {};
  return [
    {
      id: 'history',
      label: `History of this ${wordFor(versions.path)}...`,
      icon: 'history',
      ...none,
      onAction: () => open({ shows: 'history', of: versions }),
    },
    {
      id: 'who',
      label: 'Who last changed it',
      icon: 'info',
      ...(isNew ? { isDisabled: true } : {}),
      onAction: () =>
        void showLastChange(host, versions, () => open({ shows: 'history', of: versions })).catch((error) =>
          showFailure(`The history of ${versions.path} could not be read`, error),
        ),
    },
  ];
}

async function showLastChange(
  host: ReconnectingHost,
  { from, path, root }: Versions,
  onHistory: () => void,
): Promise<void> {
  let isShown = false;
  const request = { root, path, limit: 1, ...(from === undefined ? {} : { from }) };
  await host.ask('history.ofPath', request, {
    onEvents: (events) => {
      for (const event of events) {
        if (event.type !== 'commit' || isShown) continue;
        isShown = true;
        showToast({
          tone: 'info',
          title: `${authorName(event.author)} last changed ${path}, ${formatAgo(event.time)}`,
          text: subjectOf(event),
          action: { label: 'History', onPress: onHistory },
        });
      }
    },
  });
  if (!isShown) showToast({ tone: 'info', title: `No commit that was read has ${path}` });
}

function copyActions({ inWorkspace, local, name, objectKey, url }: FileSubject): readonly MenuAction[] {
  const copying = (id: string, label: string, text: string, what: string): MenuAction => ({
    id,
    label,
    icon: 'copy',
    onAction: () => void copyText(text, what),
  });
  const whole = local === undefined ? undefined : withoutSlash(local);
  const reveal = window.dray?.reveal;
  return [
    ...(whole === undefined ? [] : [copying('copy', 'Copy the path', whole, 'the path')]),
    ...(inWorkspace
      ? [
          copying(
            'copyInside',
            'Copy the path within the workspace',
            withoutSlash(inWorkspace.path),
            'the path',
          ),
        ]
      : []),
    ...(url === undefined ? [] : [copying('copyUrl', 'Copy the URL', url, 'the URL')]),
    ...(objectKey === undefined ? [] : [copying('copyKey', 'Copy the S3 key', objectKey, 'the key')]),
    ...(whole !== undefined && reveal
      ? [
          {
            id: 'reveal',
            label: 'Show in the file manager',
            icon: 'folder' as const,
            onAction: () =>
              void reveal(whole).then((isThere) => {
                if (!isThere) showToast({ tone: 'danger', title: `${name} no longer exists` });
              }),
          },
        ]
      : []),
  ];
}

function changeActions(
  { canIgnore = false, change, inWorkspace, isNew = false, mayDiffer = false }: FileSubject,
  open: (opened: Opened) => void,
  discard: ReturnType<typeof useDiscard>,
): readonly MenuAction[] {
  if (!inWorkspace) return [];
  const what = wordFor(inWorkspace.path);
  const discarded = isNew ? `new ${what}` : change || what === 'file' ? 'change' : 'changes in this folder';
  const isDeleted = change?.change === 'deleted' && change.below === undefined;
  return [
    ...(canIgnore
      ? [
          {
            id: 'ignore',
            label: `Ignore this ${what}...`,
            icon: 'minus' as const,
            onAction: () => open({ shows: 'ignore', of: inWorkspace }),
          },
        ]
      : []),
    ...(change || mayDiffer
      ? [
          {
            id: 'discard',
            label: isDeleted ? `Restore this ${what}` : `Discard the ${discarded}`,
            ...(isDeleted ? {} : { note: 'The local version moves to Kept files' }),
            icon: 'trash' as const,
            isDanger: !isDeleted,
            onAction: () => void discard(inWorkspace.root, change ?? inWorkspace),
          },
        ]
      : []),
  ];
}

function wordFor(path: string): 'file' | 'folder' {
  return path.endsWith('/') ? 'folder' : 'file';
}

function withoutSlash(path: string): string {
  return path.length > 1 ? path.replace(/\/$/, '') : path;
}
