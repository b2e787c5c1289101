import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { QueryExplanation } from '../../../engine/api/events.ts';
import { formatAffected } from '../../../engine/api/text/numbers.ts';
import { formatCommit } from '../commands/log.ts';
import { isNodeNewEnough } from '../node-version.ts';
import { formatChange, formatChangeTotals, formatConflict } from './change-lines.ts';
import { formatCheck } from './check-lines.ts';
import { createPaint, showColors, wantsColor } from './colors.ts';
import { toJsonLine } from './output.ts';
import { formatQueryActual, formatQueryPlan } from './query-plan-table.ts';
import { formatLine } from './terminal.ts';
import { quotePath, toTerminalLine } from './terminal-text.ts';
import { formatTransfer } from './transfer-line.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: the characters that must not get through.
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const plain = createPaint({ isTerminal: false, environment: {} });

describe('damage', () => {
  it('of a document that names files costs no known number of them', () => {
    expect(formatAffected(0)).toBe('which files that affects is not known');
    expect(formatAffected(1)).toBe('1 path cannot be restored in full');
  });
});

describe('changes', () => {
  it('are each a letter and a path', () => {
    const item = { type: 'change', kind: 'file', sizeBytes: 1, path: 'a/b' } as const;
    const lines = (['added', 'modified', 'deleted', 'mode'] as const).map((change) =>
      formatChange({ ...item, change }, plain),
    );
    expect(lines).toEqual(['A a/b', 'M a/b', 'D a/b', 'm a/b']);
    expect(formatChange({ ...item, change: 'renamed', fromPath: 'old' }, plain)).toBe('R old -> a/b');
    expect(formatConflict({ type: 'conflict', path: 'x', ours: 'modified', theirs: 'deleted' }, plain)).toBe(
      'C x  (modified here, deleted there)',
    );
  });

  it('are summed up by kind', () => {
    const none = { added: 0, modified: 0, deleted: 0, renamed: 0, mode: 0, bytes: 0 };
    expect(formatChangeTotals(none)).toBe('no changes');
    expect(formatChangeTotals({ ...none, added: 1200, deleted: 1, bytes: 2048 })).toBe(
      '1,200 added, 1 deleted, 2.0 KiB',
    );
    expect(formatChangeTotals({ ...none, mode: 1 })).toBe('1 with another mode');
  });
});

describe('quotePath', () => {
  it('leaves ordinary names alone, in any script', () => {
    for (const path of ['a b/c.txt', 'données/été', '数据', "it's"]) expect(quotePath(path)).toBe(path);
  });

  it('turns every name into one harmless line that can be read back', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (path) => {
        const quoted = quotePath(path);
        expect(quoted).not.toMatch(UNSAFE);
        if (quoted !== path) expect(JSON.parse(quoted)).toBe(path);
      }),
    );
  });
});

describe('a line for the terminal', () => {
  it('shows every control, direction mark and line break as an escape', () => {
    expect(toTerminalLine('\x1b[2Jgone\r\u202eback\x7f\n\t')).toBe(
      '\\u001b[2Jgone\\r\\u202eback\\u007f\\n\\t',
    );
    const marks = '\x85\x9b\u061c\u200e\u200f\u2028\u2029\u202a\u2066\u2069';
    expect(toTerminalLine(`a${marks}b`)).toMatch(/^a(?:\\u[0-9a-f]{4}){10}b$/);
    expect(toTerminalLine('données 数据 👩‍💻')).toBe('données 数据 👩‍💻');
  });

  it('is one line without controls except our own colours, whatever outside text it holds', () => {
    const paint = createPaint({ isTerminal: true, environment: {} });
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const line = formatLine(`${paint('red', text)} ${text}`);
        expect(line.startsWith('\x1b[31m')).toBe(true);
        const rest = line.slice('\x1b[31m'.length, -1).replace('\x1b[39m', '');
        expect(rest).not.toMatch(UNSAFE);
      }),
    );
    // Text that another process coloured, or that looks like it.
    expect(formatLine('\x1b[31mred\ufdd0x:31\ufdd1')).toBe('\\u001b[31mred\ufdd0x:31\ufdd1\n');
    expect(showColors(paint('red', 'a'))).toBe('\x1b[31ma\x1b[39m');
  });
});

describe('colours', () => {
  it('are used on terminals, unless the environment says otherwise', () => {
    expect(wantsColor({ isTerminal: true, environment: {} })).toBe(true);
    expect(wantsColor({ isTerminal: false, environment: {} })).toBe(false);
    expect(wantsColor({ isTerminal: true, environment: { NO_COLOR: '1' } })).toBe(false);
    expect(wantsColor({ isTerminal: true, environment: { NO_COLOR: '' } })).toBe(true);
    expect(wantsColor({ isTerminal: false, environment: { FORCE_COLOR: '1', NO_COLOR: '1' } })).toBe(true);
    expect(wantsColor({ isTerminal: true, environment: { FORCE_COLOR: '0' } })).toBe(false);
    expect(wantsColor({ isTerminal: true, environment: { TERM: 'dumb' } })).toBe(false);
  });
});

describe('the plan of a query', () => {
  const query: QueryExplanation = {
    mode: 'auto',
    wanted: 12_345,
    removedByIndex: 345,
    candidates: 12_000,
    remoteObjects: { estimate: 1_200_000, low: 1_100_000, high: 1_300_000, from: 'sample' },
    sampledPrefixes: 5,
    each: { requests: 12_000, seconds: 4.1, dollars: 0.0048 },
    list: { requests: 1_200, seconds: 13, dollars: 0.006 },
    breakEvenObjects: 380_000,
    chosen: 'each',
    reason: 'the remote is far larger than the push.',
  };

  it('is a table with both costs, the estimate and the reason', () => {
    expect(formatQueryPlan(query)).toEqual([
      'Which objects exist:',
      '  needed  12,345 blobs',
      '  known   345 skipped: the index knows that the remote has them',
      '  to ask  12,000 candidates',
      '  remote  about 1,200,000 objects (95 %: 1,100,000 to 1,300,000; from 5 sampled prefixes)',
      '        requests    time     cost',
      '  each    12,000   4.1 s  $0.0048',
      '  list     1,200  13.0 s  $0.0060',
      '  even at  380,000 objects on the remote; above, asking for each is cheaper',
      '  choice   each (mode auto): the remote is far larger than the push.',
    ]);
    expect(formatQueryActual(query)).toEqual([]);
    const actual = { requests: 12_000, seconds: 4, dollars: 0.0048, present: 11_000, absent: 1_000 };
    expect(formatQueryActual({ ...query, actual })).toEqual([
      '  actual   12,000 requests, 4.0 s, $0.0048: 11,000 there, 1,000 to send',
    ]);
  });

  it('is short when nothing needs a request', () => {
    const { remoteObjects: _, ...known } = query;
    const nothing = { ...known, candidates: 0, chosen: 'none', reason: 'the index knows all.' } as const;
    expect(formatQueryPlan(nothing).join('\n')).not.toContain('even at');
  });
});

describe('other lines', () => {
  it('show a commit for people', () => {
    const commit = {
      type: 'commit',
      commit: 'ab'.repeat(32),
      parents: ['cd'.repeat(32), 'ef'.repeat(32)],
      author: 'Ada <ada@example.org>',
      message: 'first\n\nsecond',
      time: '2026-01-01T00:00:00Z',
      files: 2,
      bytes: 2048,
      refs: ['main', 'tag: v1'],
    } as const;
    expect(formatCommit(commit, plain)).toEqual([
      `commit ${'ab'.repeat(32)} (main, tag: v1)`,
      'Merge:  cdcdcdcdcd efefefefef',
      'Author: Ada <ada@example.org>',
      'Date:   2026-01-01T00:00:00Z',
      'Holds:  2 files, 2.0 KiB',
      '',
      '    first',
      '',
      '    second',
      '',
    ]);
  });

  it('shorten long lists of paths, except with --verbose', () => {
    const paths = Array.from({ length: 30 }, (_, index) => `file-${index}`);
    const check = { type: 'check', check: 'objects', result: 'failed', detail: '30 missing', paths } as const;
    expect(formatCheck(check, plain, false)).toHaveLength(22);
    expect(formatCheck(check, plain, true)).toHaveLength(31);
  });

  it('sum a transfer up', () => {
    const requests = {
      reads: 1,
      writes: 44,
      lists: 0,
      deletes: 0,
      total: 45,
      sentBytes: 0,
      receivedBytes: 0,
      dollars: 0.00022,
    };
    expect(formatTransfer({ bytes: 120 * 1024 ** 2, elapsedMs: 3_200, requests })).toBe(
      '120 MiB in 3.2 s (37.5 MiB/s), 45 requests, about $0.00022',
    );
  });

  it('keep exact integers in JSON', () => {
    expect(toJsonLine({ small: 5n, large: 2n ** 63n })).toBe('{"small":5,"large":"9223372036854775808"}');
  });

  it('compare Node versions by number', () => {
    expect(['22.19.0', '22.20.0', '24.0.0', '100.0.0'].every(isNodeNewEnough)).toBe(true);
    expect(['22.18.9', '20.99.0', '9.0.0'].some(isNodeNewEnough)).toBe(false);
  });
});
