/** The difference between two commits. Each file can be restored from either. */

import { useMemo, useState } from 'react';
import { GridList, GridListItem } from 'react-aria-components/GridList';
import { ListLayout, Virtualizer } from 'react-aria-components/Virtualizer';
import type { ChangeRow } from '../../../engine/api/host/changes.ts';
import type { ChangeTotals } from '../../../engine/api/jobs.ts';
import { formatBytes, formatCount } from '../../../engine/api/numbers.ts';
import { ChangeMark, changeWord } from '../../design/badge.tsx';
import { Button } from '../../design/controls/button.tsx';
import { type Choice, Select } from '../../design/controls/field.tsx';
import { ContextMenu, keyOfRow } from '../../design/overlays/context-menu.tsx';
import { EmptyState, Notice } from '../../design/states.tsx';
import { AnswerState } from '../../failures/answer-state.tsx';
import { useAsk } from '../../host/use-host.tsx';
import { useTokenPx } from '../../shell/appearance/density.ts';
import { subjectOfVersion } from '../file-menu/file-subject.ts';
import { useFileMenu } from '../file-menu/use-file-menu.tsx';
import { FileDialog, type FileDialogProps } from './file-dialog.tsx';

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
  const rowHeight = useTokenPx('--entry-height');
  const layout = useMemo(() => ({ rowHeight }), [rowHeight]);
  const compared = useAsk(
    'history.compare',
    { root, to, limit: ROWS_MAX, ...(from === undefined ? {} : { from }) },
    { freshMs: isFixed(to) && (from === undefined || isFixed(from)) ? 60_000 : 0 },
  );
  const [file, setFile] = useState<Sides>();
  const { dialogs, menuOf } = useFileMenu();
  const menuAt = (element: Element) => {
    const row = compared.data?.rows.find(({ path }) => path === keyOfRow(element));
    return row && menuOf(subjectOfVersion(root, row.path, to));
  };
  const totals = compared.data?.changes;
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
        {totals && <Totals totals={totals} />}
      </div>
      <AnswerState
        of={compared}
        label="Comparing"
        title={from === undefined ? 'Cannot read the commit' : 'Cannot compare the commits'}
      />
      {compared.data?.rows.length === 0 && (
        <EmptyState icon="check" title="No difference">
          Both have the same files.
        </EmptyState>
      )}
      {compared.data !== undefined && compared.data.rows.length > 0 && (
        <ContextMenu actionsAt={menuAt}>
          <Virtualizer layout={ListLayout} layoutOptions={layout}>
            <GridList
              className="compare-list"
              aria-label="Differences"
              items={compared.data.rows.map((row) => ({ id: row.path, row }))}
              onAction={(path) => {
                const row = compared.data.rows.find((one) => one.path === path);
                if (row && row.kind !== 'folder') setFile(sidesOf(row, from, to));
              }}
            >
              {({ row }) => (
                <GridListItem className="compare-item" textValue={`${changeWord(row.change)} ${row.path}`}>
                  <ChangeMark change={row.change} />
                  <span className="cut grow" title={row.path}>
                    {row.fromPath !== undefined && <span className="faint">{row.fromPath} to </span>}
                    {row.path}
                  </span>
                  <span className="small faint">{row.kind === 'file' ? formatBytes(row.sizeBytes) : ''}</span>
                  {row.kind !== 'folder' && (
                    <Button
                      size="small"
                      look="quiet"
                      aria-label={`Preview ${row.path}`}
                      onPress={() => setFile(sidesOf(row, from, to))}
                    >
                      Preview
                    </Button>
                  )}
                </GridListItem>
              )}
            </GridList>
          </Virtualizer>
        </ContextMenu>
      )}
      {compared.data?.isCut && (
        <Notice>
          The first {formatCount(ROWS_MAX)} {from === undefined ? 'files' : 'differences'} are listed. The
          counts include all.
        </Notice>
      )}
      {file && <FileDialog root={root} {...file} onClose={() => setFile(undefined)} />}
      {dialogs}
    </div>
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

function Totals({ totals }: { readonly totals: ChangeTotals }) {
  const counts = (['added', 'modified', 'deleted', 'renamed'] as const).filter((kind) => totals[kind] > 0);
  return (
    <ul className="compare-totals">
      {counts.map((kind) => (
        <li key={kind} className={`is-${kind}`}>
          {formatCount(totals[kind])} {changeWord(kind).toLowerCase()}
        </li>
      ))}
      {totals.bytes > 0 && <li className="faint">{formatBytes(totals.bytes)}</li>}
    </ul>
  );
}
