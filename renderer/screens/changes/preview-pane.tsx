/** Both sides of one change: text line by line, images, or the known facts of other files. */
import './preview-pane.css';
import { useEffect, useState } from 'react';
import type { ChangeList, ChangeRow } from '../../../engine/api/host/changes.ts';
import { formatBytes, formatPlural } from '../../../engine/api/text/numbers.ts';
import { ChangeBadge } from '../../design/badge.tsx';
import { EmptyState, Loading } from '../../design/states.tsx';
import { ErrorState } from '../../failures/failure.tsx';
import { useAsk } from '../../host/use-host.tsx';
import { PREVIEW_HELD_MS } from '../preview/file-preview.tsx';
import { FileSides } from '../preview/file-sides.tsx';

/** A row must stay selected this long, so that a held arrow key does not read every file. */
const STAY_MS = 120;

export interface PreviewPaneProps {
  readonly root: string;
  readonly list: ChangeList;
  readonly row: ChangeRow | undefined;
}

export function PreviewPane({ root, list, row }: PreviewPaneProps) {
  const stayed = useStayed(row);
  return (
    <section className={stayed ? 'preview' : 'preview preview-empty'} aria-label="Preview">
      {!stayed ? (
        <EmptyState icon="file" title="No row selected">
          Select a file to see what changed in it.
        </EmptyState>
      ) : (
        <>
          <header className="preview-head">
            <h2 className="cut grow" title={stayed.path}>
              {stayed.path.replace(/\/$/, '').split('/').at(-1)}
            </h2>
            <ChangeBadge change={stayed.change} />
          </header>
          {stayed.below || stayed.kind === 'folder' ? (
            <FolderFacts row={stayed} />
          ) : (
            <Sides key={stayed.path} root={root} list={list} row={stayed} />
          )}
        </>
      )}
    </section>
  );
}

function useStayed(row: ChangeRow | undefined): ChangeRow | undefined {
  const [stayed, setStayed] = useState(row);
  useEffect(() => {
    const timer = setTimeout(setStayed, STAY_MS, row);
    return () => clearTimeout(timer);
  }, [row]);
  return stayed;
}

function FolderFacts({ row }: { readonly row: ChangeRow }) {
  const { rows, deleted } = row.below ?? { rows: 0, deleted: 0 };
  if (!row.below)
    return (
      <EmptyState icon="folder" title="An empty folder">
        It has no content to show.
      </EmptyState>
    );
  return (
    <EmptyState icon="folder" title={formatPlural(rows, 'change')}>
      {formatBytes(row.sizeBytes)} below this folder
      {deleted > 0 ? `, with ${formatPlural(deleted, 'deletion')}` : ''}.
    </EmptyState>
  );
}

function Sides({ root, list, row }: PreviewPaneProps & { readonly row: ChangeRow }) {
  const { commit, direction } = list;
  const { data, error, refetch } = useAsk(
    'changes.preview',
    {
      root,
      direction,
      path: row.path,
      ...(commit === undefined ? {} : { commit }),
      ...(row.fromPath === undefined ? {} : { fromPath: row.fromPath }),
    },
    { heldMs: PREVIEW_HELD_MS },
  );
  if (error) return <ErrorState title="Cannot show the file" error={error} onRetry={refetch} />;
  if (!data) return <Loading label="Reading the file" />;
  const { before, after } = data;
  const titles =
    direction === 'push' ? { before: 'Last push', after: 'Mine' } : { before: 'Mine', after: 'Theirs' };
  return <FileSides before={before} after={after} titles={titles} />;
}
