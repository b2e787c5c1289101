/** What lies between two commits, folder by folder: sums for each folder, and the files beside them. */
import { useMemo, useState } from 'react';
import { GridList, GridListItem } from 'react-aria-components/GridList';
import { ListLayout, Virtualizer } from 'react-aria-components/Virtualizer';
import type { ChangeRow } from '../../../engine/api/host/changes.ts';
import type { FolderChanges } from '../../../engine/api/host/history.ts';
import { formatBytes } from '../../../engine/api/text/numbers.ts';
import { ChangeMark, changeWord } from '../../design/badge.tsx';
import { Icon } from '../../design/icon.tsx';
import { EmptyState, Notice } from '../../design/states.tsx';
import { AnswerState } from '../../failures/answer-state.tsx';
import { useAsk } from '../../host/use-host.tsx';
import { useTokenPx } from '../../shell/appearance/density.ts';
import { Crumbs } from '../crumbs.tsx';
import { ChangeCounts } from './change-counts.tsx';
import { crumbsOfFolder, useFocusInside } from './folder-crumbs.ts';
import { useForgottenNews } from './use-forgotten-news.ts';

export interface FolderChangesViewProps {
  readonly root: string;
  /** As in `CompareView`. */
  readonly from: string | undefined;
  readonly to: string;
  readonly freshMs: number;
  readonly onLook: (row: ChangeRow) => void;
}

export function FolderChangesView({ root, from, to, freshMs, onLook }: FolderChangesViewProps) {
  const [folder, setFolder] = useState('');
  const rowHeight = useTokenPx('--entry-height');
  const layout = useMemo(() => ({ rowHeight }), [rowHeight]);
  const request = { root, to, folder, ...(from === undefined ? {} : { from }) };
  const summed = useAsk('history.folders', request, { freshMs });
  useForgottenNews(summed.error);
  const view = useFocusInside(folder, summed.isPending);
  const { folders = [], isCut = false, rows = [] } = summed.data ?? {};
  const items = [
    ...folders.map((sum) => ({ id: sum.name, sum })),
    ...rows.map((row) => ({ id: row.path, row })),
  ];
  const isEmpty = items.length === 0;
  return (
    <div className="compare" ref={view}>
      <Crumbs label="Folder of the changes" crumbs={crumbsOfFolder(folder)} onGo={setFolder} />
      <AnswerState of={summed} label="Counting the changes" title="Cannot count the changes" />
      {summed.data && isEmpty && <EmptyState icon="check" title="No difference" />}
      {!isEmpty && (
        <Virtualizer layout={ListLayout} layoutOptions={layout}>
          <GridList
            className="compare-list"
            aria-label={folder === '' ? 'Changes by folder' : `Changes in ${folder}`}
            items={items}
            onAction={(key) => {
              const row = rows.find(({ path }) => path === key);
              if (!row) setFolder(`${folder}${key}`);
              else onLook(row);
            }}
          >
            {(item) =>
              'sum' in item ? <FolderItem sum={item.sum} /> : <RowItem {...item} folder={folder} />
            }
          </GridList>
        </Virtualizer>
      )}
      {isCut && <Notice>This folder has more changes than are listed here.</Notice>}
    </div>
  );
}

function FolderItem({ sum }: { readonly sum: FolderChanges }) {
  return (
    <GridListItem id={sum.name} className="compare-item compare-folder" textValue={sum.name}>
      <Icon name="folder" />
      <span className="cut grow">{sum.name}</span>
      <ChangeCounts counts={sum} />
    </GridListItem>
  );
}

function RowItem({ row, folder }: { readonly row: ChangeRow; readonly folder: string }) {
  const { change, kind, path, sizeBytes } = row;
  return (
    <GridListItem id={path} className="compare-item" textValue={`${changeWord(change)} ${path}`}>
      <ChangeMark change={change} />
      <span className="cut grow" title={path}>
        {path.slice(folder.length)}
      </span>
      <span className="small faint">{kind === 'file' ? formatBytes(sizeBytes) : ''}</span>
    </GridListItem>
  );
}
