/** The difference between two commits. Each file can be restored from either. */

import { useMemo, useState } from 'react';
import { GridList, GridListItem } from 'react-aria-components/GridList';
import { ListLayout, Virtualizer } from 'react-aria-components/Virtualizer';
import type { ChangeRow } from '../../../engine/api/host/changes.ts';
import { formatBytes, formatCount } from '../../../engine/api/text/numbers.ts';
import { ChangeMark, changeWord } from '../../design/badge.tsx';
import { Button } from '../../design/controls/button.tsx';
import { Segmented } from '../../design/controls/choices.tsx';
import { type Choice, Select } from '../../design/controls/field.tsx';
import { ContextMenu, keyOfRow } from '../../design/overlays/context-menu.tsx';
import { EmptyState, Notice } from '../../design/states.tsx';
import { AnswerState } from '../../failures/answer-state.tsx';
import { useAsk } from '../../host/use-host.tsx';
import { useTokenPx } from '../../shell/appearance/density.ts';
import { subjectOfVersion } from '../file-menu/file-subject.ts';
import { useFileMenu } from '../file-menu/use-file-menu.tsx';
import { ChangeCounts } from './change-counts.tsx';
import { FileDialog, type FileDialogProps } from './file-dialog.tsx';
import { FolderChangesView } from './folder-changes-view.tsx';
import { useForgottenNews } from './use-forgotten-news.ts';

const ROWS_MAX = 500;

export interface CompareViewProps {
  readonly root: string;
  /** A commit, branch or tag. Undefined: all files of `to` are new. */
  readonly from: string | undefined;
  readonly to: string;
  /** Other choices for `from`. */
  readonly choices?: readonly Choice<string>[];
  readonly onFrom?: (commit: string) => void;
}

export function CompareView({ root, from, to, choices, onFrom }: CompareViewProps) {
  const freshMs = isFixed(to) && (from === undefined || isFixed(from)) ? 60_000 : 0;
  const compared = useAsk(
    'history.compare',
    { root, to, limit: ROWS_MAX, ...(from === undefined ? {} : { from }) },
    { freshMs },
  );
  useForgottenNews(compared.error);
  const [by, setBy] = useState<By>('files');
  const [file, setFile] = useState<Sides>();
  const totals = compared.data?.changes;
  const look = (row: ChangeRow): void => setFile(sidesOf(row, from, to));
  return (
    <div className="compare">
      <div className="row compare-head">
        {choices && onFrom && (
          <Select
            label="Compared with"
            isLabelUnseen
            choices={choices}
            value={from ?? 'nothing'}
            onChange={onFrom}
          />
        )}
        {totals && <ChangeCounts counts={totals} />}
        <Segmented label="Changes listed by" size="small" choices={WAYS} value={by} onChange={setBy} />
      </div>
      {by === 'folders' ? (
        <FolderChangesView key={`${from} ${to}`} {...{ root, from, to, freshMs }} onLook={look} />
      ) : (
        <>
          <AnswerState
            of={compared}
            label="Comparing"
            title={from === undefined ? 'Cannot read the commit' : 'Cannot compare the commits'}
          />
          {compared.data && <Differences root={root} to={to} rows={compared.data.rows} onLook={look} />}
          {compared.data?.isCut && (
            <Notice>
              The first {formatCount(ROWS_MAX)} {from === undefined ? 'files' : 'differences'} are listed. The
              counts include all.
            </Notice>
          )}
        </>
      )}
      {file && <FileDialog root={root} {...file} onClose={() => setFile(undefined)} />}
    </div>
  );
}

type By = 'files' | 'folders';

const WAYS: readonly { readonly id: By; readonly label: string }[] = [
  { id: 'files', label: 'Files' },
  { id: 'folders', label: 'Folders' },
];

interface DifferencesProps extends Pick<CompareViewProps, 'root' | 'to'> {
  readonly rows: readonly ChangeRow[];
  readonly onLook: (row: ChangeRow) => void;
}

function Differences({ root, to, rows, onLook }: DifferencesProps) {
  const rowHeight = useTokenPx('--entry-height');
  const layout = useMemo(() => ({ rowHeight }), [rowHeight]);
  const { dialogs, menuOf } = useFileMenu();
  if (rows.length === 0)
    return (
      <EmptyState icon="check" title="No difference">
        Both have the same files.
      </EmptyState>
    );
  return (
    <>
      <ContextMenu
        actionsAt={(element) => {
          const row = rows.find(({ path }) => path === keyOfRow(element));
          return row && menuOf(subjectOfVersion(root, row.path, to));
        }}
      >
        <Virtualizer layout={ListLayout} layoutOptions={layout}>
          <GridList
            className="compare-list"
            aria-label="Differences"
            items={rows.map((row) => ({ id: row.path, row }))}
            onAction={(path) => {
              const row = rows.find((one) => one.path === path);
              if (row && row.kind !== 'folder') onLook(row);
            }}
          >
            {({ row }) => <DifferenceItem row={row} onLook={onLook} />}
          </GridList>
        </Virtualizer>
      </ContextMenu>
      {dialogs}
    </>
  );
}

function DifferenceItem({ row, onLook }: { readonly row: ChangeRow } & Pick<DifferencesProps, 'onLook'>) {
  const { change, fromPath, kind, path, sizeBytes } = row;
  return (
    <GridListItem id={path} className="compare-item" textValue={`${changeWord(change)} ${path}`}>
      <ChangeMark change={change} />
      <span className="cut grow" title={path}>
        {fromPath !== undefined && <span className="faint">{fromPath} to </span>}
        {path}
      </span>
      <span className="small faint">{kind === 'file' ? formatBytes(sizeBytes) : ''}</span>
      {kind !== 'folder' && (
        <Button size="small" look="quiet" aria-label={`Preview ${path}`} onPress={() => onLook(row)}>
          Preview
        </Button>
      )}
    </GridListItem>
  );
}

type Sides = Pick<FileDialogProps, 'before' | 'after'>;

/** A branch or tag can move; a whole hash names one commit for ever. */
function isFixed(version: string): boolean {
  return /^[0-9a-f]{64}$/.test(version);
}

function sidesOf({ change, fromPath, path }: ChangeRow, from: string | undefined, to: string): Sides {
  return {
    ...(change === 'added' || from === undefined ? {} : { before: { path: fromPath ?? path, commit: from } }),
    ...(change === 'deleted' ? {} : { after: { path, commit: to } }),
  };
}
