import { describe, expect, it } from 'vitest';
import { tablePreview } from './table-preview.ts';

const rowsOf = (name: string, text: string, isCut = false) => tablePreview(name, text, isCut)?.rows;
const typesOf = (name: string, text: string) =>
  tablePreview(name, text, false)?.columns.map(({ name: column, type }) => `${column}: ${type}`);

describe('a table', () => {
  it('has the columns of the head with the types of their values', () => {
    const text = 'id,ratio,when,ok,note,gap\n1,0.5,2024-01-02,true,a,\n2,1e3,2024-01-02T03:04Z,false,7,\n';
    expect(typesOf('a.csv', text)).toEqual([
      'id: whole number',
      'ratio: number',
      'when: time',
      'ok: boolean',
      'note: mixed',
      'gap: empty',
    ]);
  });

  it('reads quoted fields with delimiters, quotes and line breaks, and short records', () => {
    expect(rowsOf('a.CSV', 'a,b\r\n"x, ""y""\nz",2\r\n\r\nshort\r\n')).toEqual([
      ['x, "y"\nz', '2'],
      ['short', null],
    ]);
    expect(rowsOf('a.csv', '\ufeffa;b\n1;2,5')).toEqual([['1', '2,5']]);
    expect(rowsOf('a.tsv', 'a\tb\n1,5\t2\n')).toEqual([['1,5', '2']]);
    expect(typesOf('a.csv', '\ufeffa,\n1,2')).toEqual(['a: whole number', 'Column 2: whole number']);
  });

  it('takes its delimiter from outside of quotes, and ends its lines as any system does', () => {
    expect(rowsOf('a.csv', '"Name, first, last";"x"\n"A, B";1\n')).toEqual([['A, B', '1']]);
    expect(rowsOf('a.csv', 'a,b\r1,2\r"3\r",4\r')).toEqual([
      ['1', '2'],
      ['3\r', '4'],
    ]);
  });

  it('omits the incomplete last record of a cut text', () => {
    expect(tablePreview('a.csv', 'a,b\n1,2\n3,', true)).toMatchObject({ rows: [['1', '2']], isCut: true });
    expect(tablePreview('a.jsonl', '{"a":1}\n{"a":', true)).toMatchObject({ rows: [['1']], isCut: true });
  });

  it('has the keys of JSON Lines as columns, in the order of their first use', () => {
    const table = tablePreview('a.jsonl', '{"a":1,"b":"x"}\n{"c":{"d":[1]},"a":null}\n', false);
    expect(table?.columns.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    expect(table?.rows).toEqual([
      ['1', 'x', null],
      [null, null, '{"d":[1]}'],
    ]);
    expect(rowsOf('a.ndjson', '[1,"x"]\n3\n')).toEqual([
      ['1', 'x', null],
      [null, null, '3'],
    ]);
    expect(tablePreview('a.jsonl', 'no json\n', false)).toBeUndefined();
    expect(rowsOf('a.jsonl', '{"__proto__":1,"constructor":2}')).toEqual([['1', '2']]);
  });

  it('is bounded in rows, columns and cells', () => {
    const tall = tablePreview('a.csv', `a\n${'1\n'.repeat(2_000)}`, false);
    expect([tall?.rows.length, tall?.isCut]).toEqual([500, true]);
    const wide = tablePreview('a.csv', `${'a,'.repeat(500)}\n${'1,'.repeat(500)}\n`, false);
    expect([wide?.columns.length, wide?.isCut]).toEqual([100, true]);
    expect([wide?.rowsTotal, wide?.note]).toEqual([1, '401 more columns are not shown.']);
    const keys = Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`k${at}`, at]));
    const lines = tablePreview('a.jsonl', `${JSON.stringify(keys)}\n`.repeat(2), false);
    expect([lines?.columns.length, lines?.note]).toEqual([100, '1 more column is not shown.']);
    const long = tablePreview('a.csv', `a\n${'x'.repeat(5_000)}\n`, false);
    expect(long?.rows[0]?.[0]?.length).toBe(1_001);
    const whole = tablePreview('a.csv', `a\n${'1\n'.repeat(500)}`, false);
    expect([whole?.rows.length, whole?.isCut]).toEqual([500, false]);
  });

  it('is undefined for other extensions, empty files and values that are nested too deeply', () => {
    expect(
      tablePreview('a.jsonl', `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`, false),
    ).toBeUndefined();
    expect(tablePreview('a.txt', 'a,b\n1,2\n', false)).toBeUndefined();
    expect(tablePreview('a.csv', '', false)).toBeUndefined();
  });
});
