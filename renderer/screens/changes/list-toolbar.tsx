import './list-toolbar.css';
import type { Ref } from 'react';
import { ToggleButton } from 'react-aria-components/ToggleButton';
import type { ChangeList, ChangeRow } from '../../../engine/api/host/changes.ts';
import { formatCount } from '../../../engine/api/text/numbers.ts';
import { Segmented } from '../../design/controls/choices.tsx';
import { Search, Select } from '../../design/controls/field.tsx';
import type { Look } from './use-change-list.ts';

type Change = ChangeRow['change'];

const CHIPS: readonly { readonly label: string; readonly tone: string; readonly kinds: readonly Change[] }[] =
  [
    { label: 'Conflicts', tone: 'conflict', kinds: ['conflict'] },
    { label: 'Added', tone: 'added', kinds: ['added'] },
    { label: 'Changed', tone: 'modified', kinds: ['modified'] },
    { label: 'Deleted', tone: 'deleted', kinds: ['deleted'] },
    { label: 'Renamed', tone: 'renamed', kinds: ['renamed'] },
    { label: 'Mode and time', tone: 'neutral', kinds: ['mode', 'time'] },
  ];

export interface ListToolbarProps {
  readonly list: ChangeList | undefined;
  readonly look: Look;
  readonly onLook: (look: Look) => void;
  readonly searchRef: Ref<HTMLInputElement>;
}

/** Chooses which rows are shown, and how. */
export function ListToolbar({ list, look, onLook, searchRef }: ListToolbarProps) {
  return (
    <div className="list-toolbar">
      <Search
        label="Search paths"
        value={look.filter}
        onChange={(filter) => onLook({ ...look, filter })}
        placeholder="Search paths"
        inputRef={searchRef}
      />
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as a row */}
      <div className="chips grow" role="group" aria-label="Kinds of change">
        {CHIPS.map(({ label, tone, kinds }) => {
          const count = list ? countOf(list, kinds[0]!) : undefined;
          if (count === 0 && !kinds.some((kind) => look.kinds.has(kind))) return null;
          return (
            <ToggleButton
              key={label}
              className={`chip chip-${tone}`}
              isSelected={kinds.every((kind) => look.kinds.has(kind))}
              onChange={(isSelected) => {
                const next = new Set(look.kinds);
                for (const kind of kinds) isSelected ? next.add(kind) : next.delete(kind);
                onLook({ ...look, kinds: next });
              }}
            >
              {label}
              {count !== undefined && <span className="chip-count">{formatCount(count)}</span>}
            </ToggleButton>
          );
        })}
      </div>
      {!look.isTree && (
        <Select
          label="Order"
          isLabelUnseen
          value={look.sort}
          onChange={(sort) => onLook({ ...look, sort })}
          choices={[
            { id: 'path', label: 'By path' },
            { id: 'size', label: 'Largest first' },
          ]}
        />
      )}
      <Segmented
        label="View"
        value={look.isTree ? 'tree' : 'flat'}
        onChange={(view) => onLook({ ...look, isTree: view === 'tree' })}
        choices={[
          { id: 'tree', label: 'Tree' },
          { id: 'flat', label: 'Flat' },
        ]}
      />
    </div>
  );
}

function countOf({ totals, conflicts }: ChangeList, kind: Change): number {
  if (kind === 'conflict') return conflicts;
  // Time-only changes get no count; the row of a mode stands for both.
  return kind === 'time' ? 0 : totals[kind];
}
