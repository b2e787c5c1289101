/**
 * The widths and the visibility of a table's columns. The engine stores both in the settings, for every
 * window. The first column takes the remaining width, and cannot be hidden.
 */
import { type CSSProperties, useRef, useState } from 'react';
import {
  COLUMN_PX_MAX,
  COLUMN_PX_MIN,
  type ColumnId,
  type ColumnSetting,
  type ColumnTable,
} from '../../../engine/api/host/settings.ts';
import type { ContextActions } from '../../design/overlays/context-menu.tsx';
import { useAsk, useHost, useRefresh } from '../../host/use-host.tsx';
import { showFailure } from '../../shell/toasts/toasts.tsx';

export interface ColumnSpec {
  readonly id: ColumnId;
  readonly label: string;
  /** The default width. */
  readonly widthPx: number;
  /** The class of the column's cells. */
  readonly cells: string;
}

export interface Columns {
  /** Props of the table's element: `--width-ID` for each column, and the hidden columns. */
  readonly props: { readonly style: CSSProperties; readonly 'data-hides': string };
  readonly specs: readonly ColumnSpec[];
  /** No column is shown, except the first. */
  readonly areAllHidden: boolean;
  readonly widthOf: (id: ColumnId) => number;
  /** Shows a width at once; `keep` saves it. */
  readonly resize: (id: ColumnId, widthPx: number) => void;
  readonly keep: () => void;
  /** The menu of the head, which shows and hides columns and resets them. */
  readonly menu: ContextActions;
}

export function useColumns(table: ColumnTable, specs: readonly ColumnSpec[]): Columns {
  const host = useHost();
  const refresh = useRefresh();
  const { data } = useAsk('settings.get', {}, { freshMs: 60_000 });
  // Shown until the settings have the change.
  const draft = useRef<readonly ColumnSetting[]>(undefined);
  const [, draw] = useState(0);
  const current = () => draft.current ?? data?.columns?.[table] ?? [];
  const change = (next: readonly ColumnSetting[]) => {
    draft.current = next;
    draw((count) => count + 1);
  };
  const keep = async (): Promise<void> => {
    const columns = draft.current;
    if (columns === undefined) return;
    try {
      await host.ask('settings.keepColumns', { table, columns });
      await refresh('settings.get');
    } catch (error) {
      showFailure('The columns were not kept', error);
    }
    // Kept if the columns have changed again meanwhile.
    if (draft.current === columns) draft.current = undefined;
    draw((count) => count + 1);
  };
  const settingOf = (id: ColumnId) => current().find((one) => one.id === id);
  const put = (id: ColumnId, part: Partial<ColumnSetting>) => {
    const { isHidden, ...before } = settingOf(id) ?? { id };
    const next = { ...before, ...(isHidden && { isHidden }), ...part };
    change([...current().filter((one) => one.id !== id), next]);
  };
  const widthOf = (id: ColumnId) =>
    settingOf(id)?.widthPx ?? specs.find((spec) => spec.id === id)?.widthPx ?? COLUMN_PX_MIN;
  const toggle = (id: ColumnId) => {
    const setting = settingOf(id);
    const { isHidden, ...shown } = setting ?? { id };
    change([...current().filter((one) => one.id !== id), isHidden ? shown : { ...shown, isHidden: true }]);
    void keep();
  };
  const isOwn = current().length > 0;
  return {
    specs,
    areAllHidden: specs.every(({ id }) => settingOf(id)?.isHidden),
    widthOf,
    resize: (id, widthPx) =>
      put(id, { widthPx: Math.round(Math.min(COLUMN_PX_MAX, Math.max(COLUMN_PX_MIN, widthPx))) }),
    keep: () => void keep(),
    props: {
      style: Object.fromEntries(specs.map(({ id }) => [`--width-${id}`, `${widthOf(id)}px`])),
      'data-hides': specs.flatMap(({ id }) => (settingOf(id)?.isHidden ? [id] : [])).join(' '),
    },
    menu: {
      label: 'Columns',
      actions: [
        ...specs.map(({ id, label }) => ({
          id,
          label,
          isOn: !settingOf(id)?.isHidden,
          onAction: () => toggle(id),
        })),
        {
          id: 'reset',
          label: 'Reset the columns',
          icon: 'refresh' as const,
          startsGroup: true,
          isDisabled: !isOwn,
          onAction: () => {
            change([]);
            void keep();
          },
        },
      ],
    },
  };
}
