import { describe, expect, it } from 'vitest';
import type { TablePreview } from '../../../engine/api/host/file-preview.ts';
import { diffTables } from './table-diff.ts';

const table = (names: string, ...rows: string[]): TablePreview => ({
  columns: names.split(',').map((name) => ({ name, type: 'text' as const })),
  rows: rows.map((row) => row.split(',')),
  isCut: false,
});

describe('the difference of two tables', () => {
  it('pairs rows by the first column that names each of them, wherever they stand', () => {
    const diff = diffTables(
      table('kind,id,v', 'x,1,a', 'x,2,b', 'x,3,c'),
      table('kind,id,v', 'x,3,c', 'x,1,A', 'x,4,d'),
    );
    expect(diff).toEqual({
      columns: ['kind', 'id', 'v'],
      key: 'id',
      sameRows: 1,
      differences: [
        { is: 'changed', before: ['x', '1', 'a'], after: ['x', '1', 'A'] },
        { is: 'added', after: ['x', '4', 'd'] },
        { is: 'removed', before: ['x', '2', 'b'] },
      ],
    });
  });

  it('compares whole rows when no column names them, and counts rows that repeat', () => {
    const diff = diffTables(table('a,b', '1,1', '1,1', '2,1'), table('a,b', '1,1', '2,2'));
    expect(diff.key).toBeUndefined();
    expect(diff.sameRows).toBe(1);
    expect(diff.differences).toEqual([
      { is: 'added', after: ['2', '2'] },
      { is: 'removed', before: ['1', '1'] },
      { is: 'removed', before: ['2', '1'] },
    ]);
  });

  it('shows columns that came or went, and a table that is there on one side only', () => {
    expect(diffTables(table('id,old', '1,x'), table('id,new', '1,y'))).toMatchObject({
      columns: ['id', 'new', 'old'],
      differences: [{ is: 'changed', before: ['1', null, 'x'], after: ['1', 'y', null] }],
    });
    expect(diffTables(undefined, table('id', '1')).differences).toEqual([{ is: 'added', after: ['1'] }]);
    expect(diffTables(table('id', '1'), undefined).differences).toEqual([{ is: 'removed', before: ['1'] }]);
  });
});
