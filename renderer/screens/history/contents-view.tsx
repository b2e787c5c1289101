/** What a commit holds, folder by folder, each of them to be had back. */
import { useState } from 'react';
import { GridList, GridListItem } from 'react-aria-components/GridList';
import { ListLayout, Virtualizer } from 'react-aria-components/Virtualizer';
import type { EntryRow } from '../../../engine/api/host.ts';
import { IconButton } from '../../design/button.tsx';
import { ConfirmDialog } from '../../design/dialog.tsx';
import { formatBytes, formatHash } from '../../design/format.ts';
import { Icon } from '../../design/icon.tsx';
import { EmptyState, ErrorState, Loading, Notice } from '../../design/states.tsx';
import { useAsk, useDo } from '../../host/use-host.tsx';
import { FileDialog } from './file-dialog.tsx';

const LAYOUT = { rowHeight: 34 };

export function ContentsView({ root, commit }: { readonly root: string; readonly commit: string }) {
  const [folder, setFolder] = useState('');
  const [file, setFile] = useState<string>();
  const [restoring, setRestoring] = useState<string>();
  const listed = useAsk('history.entries', { root, commit, folder }, { freshMs: 60_000 });
  const start = useDo('transfers.start');
  const open = (entry: EntryRow): void => {
    if (entry.kind === 'folder') setFolder(`${folder}${entry.path}`);
    else setFile(`${folder}${entry.path}`);
  };
  return (
    <div className="compare">
      <Crumbs folder={folder} onFolder={setFolder} />
      {start.isSuccess && (
        <Notice tone="success">
          It is on its way back into your folder. <a href="#/transfers">Open Transfers</a>
        </Notice>
      )}
      {start.error && <Notice tone="danger">{start.error.message}</Notice>}
      {listed.isPending && <Loading label="Reading the folder" />}
      {listed.error && (
        <ErrorState
          title="The folder cannot be read"
          error={listed.error}
          onRetry={() => void listed.refetch()}
        />
      )}
      {listed.data?.entries.length === 0 && <EmptyState icon="folder" title="An empty folder" />}
      {listed.data !== undefined && listed.data.entries.length > 0 && (
        <Virtualizer layout={ListLayout} layoutOptions={LAYOUT}>
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
                  {entry.kind === 'file' ? formatBytes(entry.sizeBytes) : ''}
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
      )}
      {listed.data?.isCut && <Notice>The folder holds more than is listed here.</Notice>}
      {file !== undefined && (
        <FileDialog root={root} file={{ path: file, commit }} onClose={() => setFile(undefined)} />
      )}
      <ConfirmDialog
        title={`Restore ${restoring ?? ''}`}
        isOpen={restoring !== undefined}
        onClose={() => setRestoring(undefined)}
        action="Restore"
        onConfirm={() => {
          if (restoring !== undefined)
            start.mutate({ kind: 'restore', root, paths: [restoring], from: commit });
        }}
      >
        What your folder has at this path is replaced by what it was in {formatHash(commit)}.
        {restoring?.endsWith('/') && ' A folder is restored with all below it.'}
      </ConfirmDialog>
    </div>
  );
}

function Crumbs({
  folder,
  onFolder,
}: {
  readonly folder: string;
  readonly onFolder: (folder: string) => void;
}) {
  const parts = folder.split('/').filter(Boolean);
  return (
    <nav className="crumbs" aria-label="Folder">
      <button type="button" className="crumb" onClick={() => onFolder('')}>
        Top
      </button>
      {parts.map((part, index) => {
        const path = parts.slice(0, index + 1).join('/');
        return (
          <span key={path} className="row">
            <Icon name="chevronRight" size={12} />
            <button
              type="button"
              className="crumb"
              aria-current={index === parts.length - 1 ? 'location' : undefined}
              onClick={() => onFolder(`${path}/`)}
            >
              {part}
            </button>
          </span>
        );
      })}
    </nav>
  );
}
