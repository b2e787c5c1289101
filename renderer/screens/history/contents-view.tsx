/** The contents of a commit, folder by folder. Each entry can be restored. */

import { type RefObject, useEffect, useMemo, useRef, useState } from 'react';
import { GridList, GridListItem } from 'react-aria-components/GridList';
import { ListLayout, Virtualizer } from 'react-aria-components/Virtualizer';
import type { EntryRow } from '../../../engine/api/host/browse.ts';
import { formatBytes } from '../../../engine/api/numbers.ts';
import { IconButton } from '../../design/controls/button.tsx';
import { focusIfLost } from '../../design/controls/focus-if-lost.ts';
import { formatMoment } from '../../design/format.ts';
import { Icon } from '../../design/icon.tsx';
import { ContextMenu, keyOfRow } from '../../design/overlays/context-menu.tsx';
import type { MenuAction } from '../../design/overlays/menu.tsx';
import { EmptyState, Notice } from '../../design/states.tsx';
import { AnswerState } from '../../failures/answer-state.tsx';
import { useAsk } from '../../host/use-host.tsx';
import { useTokenPx } from '../../shell/appearance/density.ts';
import { Crumbs } from '../crumbs.tsx';
import { subjectOfVersion } from '../file-menu/file-subject.ts';
import { useFileMenu } from '../file-menu/use-file-menu.tsx';
import { FileDialog } from './file-dialog.tsx';
import { RestoreDialog } from './restore-dialog.tsx';

export function ContentsView({ root, commit }: { readonly root: string; readonly commit: string }) {
  const rowHeight = useTokenPx('--entry-height');
  const layout = useMemo(() => ({ rowHeight }), [rowHeight]);
  const [folder, setFolder] = useState('');
  const [file, setFile] = useState<string>();
  const [restoring, setRestoring] = useState<string>();
  const { dialogs, menuOf } = useFileMenu();
  const menuAt = (element: Element) => {
    const name = listed.data?.entries.find(({ path }) => path === keyOfRow(element))?.path;
    if (name === undefined) return undefined;
    const path = `${folder}${name}`;
    const restore: MenuAction = {
      id: 'restore',
      label: 'Restore it...',
      icon: 'download',
      onAction: () => setRestoring(path),
    };
    return menuOf(subjectOfVersion(root, path, commit), { first: [restore] });
  };
  const listed = useAsk('history.entries', { root, commit, folder }, { freshMs: 60_000 });
  const view = useFocusInside(folder, listed.isPending);
  const open = (entry: EntryRow): void => {
    if (entry.kind === 'folder') setFolder(`${folder}${entry.path}`);
    else setFile(`${folder}${entry.path}`);
  };
  return (
    <div className="compare" ref={view}>
      <Crumbs label="Folder of the commit" crumbs={crumbsOfFolder(folder)} onGo={setFolder} />
      <AnswerState of={listed} label="Reading the folder" title="Cannot read the folder" />
      {listed.data?.entries.length === 0 && <EmptyState icon="folder" title="An empty folder" />}
      {listed.data !== undefined && listed.data.entries.length > 0 && (
        <ContextMenu actionsAt={menuAt}>
          <Virtualizer layout={ListLayout} layoutOptions={layout}>
            <GridList
              className="compare-list"
              aria-label={folder === '' ? 'Contents' : `Contents of ${folder}`}
              items={listed.data.entries.map((entry) => ({ id: entry.path, entry }))}
              onAction={(path) => {
                const entry = listed.data.entries.find((one) => one.path === path);
                if (entry) open(entry);
              }}
            >
              {({ entry }) => (
                <GridListItem className="compare-item" textValue={entry.path}>
                  <Icon name={entry.kind} />
                  <span className="cut grow">{entry.path}</span>
                  <span className="small faint">
                    {entry.kind === 'link' ? `to ${entry.target}` : formatBytes(entry.sizeBytes)}
                  </span>
                  <span className="small faint compare-time">
                    {entry.mtime === undefined ? '' : formatMoment(entry.mtime)}
                  </span>
                  <IconButton
                    icon="history"
                    size="small"
                    label={`Restore ${entry.path}`}
                    onPress={() => setRestoring(`${folder}${entry.path}`)}
                  />
                </GridListItem>
              )}
            </GridList>
          </Virtualizer>
        </ContextMenu>
      )}
      {listed.data?.isCut && <Notice>The folder has more entries than are listed here.</Notice>}
      {file !== undefined && (
        <FileDialog root={root} after={{ path: file, commit }} onClose={() => setFile(undefined)} />
      )}
      {dialogs}
      {restoring !== undefined && (
        <RestoreDialog
          root={root}
          file={{ path: restoring, commit }}
          onClose={() => setRestoring(undefined)}
        />
      )}
    </div>
  );
}

/** When a folder opens, its row goes, and the focus with it. The folder's list gets it, or else its name. */
function useFocusInside(folder: string, isPending: boolean): RefObject<HTMLDivElement | null> {
  const view = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (folder === '' || isPending) return;
    const find = (what: string) => view.current?.querySelector<HTMLElement>(what);
    focusIfLost(() => find('[role="grid"]') ?? find('[aria-current]'));
  }, [folder, isPending]);
  return view;
}

function crumbsOfFolder(folder: string): { readonly key: string; readonly name: string }[] {
  const parts = folder.split('/').filter(Boolean);
  const below = parts.map((name, index) => ({ key: `${parts.slice(0, index + 1).join('/')}/`, name }));
  return [{ key: '', name: 'Top' }, ...below];
}
