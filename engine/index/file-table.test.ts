/** The `file` table against a plain map, under random calls in random order. */
import { createHash } from 'node:crypto';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runBudget } from '../base/run-budget.fixture.ts';
import { type BlobHash, comparePaths, type Entry, type PackHash } from '../model/entry.ts';
import { BlobTable } from './blob-table.ts';
import type { IndexedChange, IndexedSide } from './file-row.ts';
import { FileTable, type WorkingStat } from './file-table.ts';
import { MIGRATIONS } from './migrations.ts';

const REPOSITORY = 1;
const PACK = 'd'.repeat(64) as PackHash;
const PATHS = ['a', 'a-', 'b', 'b/c', 'z', '\u00e9', '\ue000', '\u{1f600}'];
const FOLDERS = ['f/', 'b/e/'];

/** Each content has one size, as real content does. */
const contents = ['one', 'three', 'a longer one'].map((text, at) => ({
  hash: createHash('sha256').update(text).digest('hex') as BlobHash,
  sizeBytes: text.length,
  offset: at * 100,
}));

interface Side {
  readonly kind: Entry['kind'];
  readonly sizeBytes: number;
  readonly mtimeNs: bigint;
  readonly executable: boolean;
  /** Null: not read yet. */
  readonly hash: string | null;
}

type Working = Side & { readonly stat: readonly [mtimeMs: number, ctimeMs: number, inode: number] };

interface Row {
  working?: Working;
  base?: Side;
}

/** The expected content of the table. */
class Model {
  readonly rows = new Map<string, Row>();

  row(path: string): Row {
    let row = this.rows.get(path);
    if (!row) {
      row = {};
      this.rows.set(path, row);
    }
    return row;
  }

  /** Removes rows that have neither side. */
  sweep(): void {
    for (const [path, row] of this.rows) if (!row.working && !row.base) this.rows.delete(path);
  }

  sorted(): [string, Row][] {
    return [...this.rows].sort(([left], [right]) => comparePaths(left, right));
  }
}

const isSame = ({ working, base }: Row): boolean =>
  working !== undefined &&
  base !== undefined &&
  working.kind === base.kind &&
  working.hash !== null &&
  working.hash === base.hash &&
  working.executable === base.executable;

type Step = (table: FileTable, model: Model) => void;

const statNumbers = fc.tuple(
  fc.integer({ min: 1, max: 3 }),
  fc.integer({ min: 1, max: 3 }),
  fc.integer({ min: 1, max: 3 }),
);
const times = fc.constantFrom(1n, 1_700_000_000_123_456_789n, -5n);
const filePath = fc.constantFrom(...PATHS);
const folderPath = fc.constantFrom(...FOLDERS);

const fileEntry = fc
  .record({ path: filePath, content: fc.constantFrom(...contents), mtimeNs: times, executable: fc.boolean() })
  .map(({ path, content, mtimeNs, executable }): Entry => {
    const { hash: blob, sizeBytes, offset } = content;
    return {
      kind: 'file',
      path,
      sizeBytes,
      mtimeNs,
      executable,
      blob,
      location: { in: 'pack', pack: PACK, offset },
    };
  });
const linkEntry = fc
  .record({ path: filePath, target: fc.constantFrom('x', '../y') })
  .map(({ path, target }): Entry => ({ kind: 'link', path, target }));
const folderEntry = folderPath.map((path): Entry => ({ kind: 'folder', path }));
const anyEntry = fc.oneof({ weight: 4, arbitrary: fileEntry }, linkEntry, folderEntry);

function sideOf(entry: Entry): Side {
  if (entry.kind === 'file') {
    const { kind, sizeBytes, mtimeNs, executable, blob } = entry;
    return { kind, sizeBytes, mtimeNs, executable, hash: blob };
  }
  const hash = entry.kind === 'link' ? entry.target : '';
  return { kind: entry.kind, sizeBytes: 0, mtimeNs: 0n, executable: false, hash };
}

const toStat = (side: Omit<Side, 'hash'>, [mtimeMs, ctimeMs, inode]: Working['stat']): WorkingStat => ({
  kind: side.kind,
  sizeBytes: side.sizeBytes,
  mtimeMs,
  ctimeMs,
  inode,
  executable: side.executable,
});

/** A scan found the path: an unread file, a link with its target, or an empty folder. */
const setWorking = fc.record({ entry: anyEntry, stat: statNumbers }).map(
  ({ entry, stat }): Step =>
    (table, model) => {
      const side = { ...sideOf(entry), mtimeNs: 0n, ...(entry.kind === 'file' ? { hash: null } : {}) };
      table.setWorking(entry.path, toStat(side, stat), side.hash);
      model.row(entry.path).working = { ...side, stat };
    },
);

const setAbsent = fc.oneof(filePath, folderPath).map(
  (path): Step =>
    (table, model) => {
      table.setAbsent(path);
      delete model.row(path).working;
    },
);

/** A scanned file was read. Has no effect on a path that the table does not have or that equals the base. */
const setRead = fc.record({ entry: fileEntry, stat: statNumbers, isRacy: fc.boolean() }).map(
  ({ entry, stat, isRacy }): Step =>
    (table, model) => {
      const side = sideOf(entry);
      const { mtimeNs } = side;
      const hash = side.hash as BlobHash;
      table.setRead(entry.path, { ...toStat(side, stat), mtimeNs, hash, isRacy });
      const row = model.rows.get(entry.path);
      if (!row || isSame(row)) return;
      row.working = { ...side, stat: [stat[0], stat[1], isRacy ? -1 : stat[2]] };
    },
);

const forgetRead = fc.constantFrom(...contents).map(
  ({ hash }): Step =>
    (table, model) => {
      const forgotten: string[] = [];
      for (const [path, row] of model.sorted()) {
        const { working } = row;
        if (isSame(row) || working?.kind !== 'file' || working.hash !== hash) continue;
        row.working = { ...working, hash: null, mtimeNs: 0n, stat: [working.stat[0], working.stat[1], -1] };
        forgotten.push(path);
      }
      expect(table.forgetRead(hash).toSorted(comparePaths)).toEqual(forgotten);
    },
);

const setWritten = fc.record({ entry: anyEntry, stat: statNumbers }).map(
  ({ entry, stat }): Step =>
    (table, model) => {
      const side = sideOf(entry);
      table.setWritten(entry, toStat(side, stat));
      const row = model.row(entry.path);
      row.working = { ...side, stat };
      row.base = side;
    },
);

const setBase = fc.record({ entry: anyEntry, isThere: fc.boolean() }).map(
  ({ entry, isThere }): Step =>
    (table, model) => {
      table.setBase(entry.path, isThere ? entry : undefined);
      const row = model.row(entry.path);
      if (isThere) row.base = sideOf(entry);
      else delete row.base;
    },
);

const clearBase = fc.constant<Step>((table, model) => {
  table.clearBase();
  for (const row of model.rows.values()) delete row.base;
});

/** An unread file stays a change: it was not part of the push. */
const acceptChanges = fc.constant<Step>((table, model) => {
  table.acceptChanges();
  for (const row of model.rows.values()) {
    if (isSame(row)) continue;
    if (!row.working) delete row.base;
    else if (row.working.hash !== null) {
      const { stat: _, ...side } = row.working;
      row.base = side;
    }
  }
});

const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: setWorking },
    { weight: 4, arbitrary: setRead },
    { weight: 2, arbitrary: setAbsent },
    forgetRead,
    { weight: 3, arbitrary: setWritten },
    { weight: 4, arbitrary: setBase },
    clearBase,
    acceptChanges,
  ),
  { maxLength: 40 },
);

function open() {
  const database = new Database(':memory:');
  for (const step of MIGRATIONS) database.exec(step);
  database.prepare("INSERT INTO repository (id, uuid, epoch) VALUES (?, 'id', 0)").run(REPOSITORY);
  return { database, table: new FileTable(database), blobs: new BlobTable(database, REPOSITORY) };
}

function rememberAll(blobs: BlobTable): void {
  for (const { hash, offset } of contents) blobs.add(hash, { in: 'pack', pack: PACK, offset });
}

const comparable = ({ kind, sizeBytes, mtimeNs, executable, hash }: Side | IndexedSide) => ({
  kind,
  // The sizes of links and folders depend on the file system.
  sizeBytes: kind === 'file' ? sizeBytes : 0,
  mtimeNs: kind === 'file' ? mtimeNs : 0n,
  executable,
  hash: hash ?? null,
});

const bothSides = ({ before, after }: Pick<IndexedChange, 'before' | 'after'>) => ({
  before: before && comparable(before),
  after: after && comparable(after),
});

function checkRows(table: FileTable, model: Model): void {
  const expected = model.sorted();
  expect([...table.changes(REPOSITORY)].flat().map((change) => [change.path, bothSides(change)])).toEqual(
    expected
      .filter(([, row]) => !isSame(row))
      .map(([path, { working, base }]) => [
        path,
        bothSides({ before: base as IndexedSide, after: working as IndexedSide }),
      ]),
  );
  expect([...table.workingPaths()].flat()).toEqual(
    expected.filter(([, row]) => row.working).map(([path]) => path),
  );
  expect(table.pageOfStats('').map(({ path, flags }) => [path, flags])).toEqual(
    expected.map(([path, row]) => [
      path,
      (isSame(row) ? 1 : 0) + (row.working && row.working.hash !== null ? 0 : 2),
    ]),
  );
  for (const [path, { working }] of expected) {
    const known = table.knownStat(path)!;
    expect([known.mtimeMs, known.ctimeMs, known.inode]).toEqual(working ? working.stat : [0, 0, 0]);
  }
  expect(table.pageOfUndecided('').map(({ path }) => path)).toEqual(
    expected
      .filter(
        ([, { working, base }]) => working?.kind === 'file' && working.hash === null && base?.kind === 'file',
      )
      .filter(([, { working, base }]) => working!.sizeBytes === base!.sizeBytes)
      .map(([path]) => path),
  );
}

function checkTotals(table: FileTable, model: Model): void {
  const totals = { added: 0, modified: 0, deleted: 0, mode: 0, bytes: 0 };
  for (const row of model.rows.values()) {
    const { working, base } = row;
    if (isSame(row) || (working && working.hash === null)) continue;
    const isContent = working && !(base?.kind === working.kind && base.hash === working.hash);
    if (!working) totals.deleted += 1;
    else if (!base) totals.added += 1;
    else totals[isContent ? 'modified' : 'mode'] += 1;
    if (isContent && working.kind === 'file') totals.bytes += working.sizeBytes;
  }
  expect(table.changeTotals()).toEqual(totals);
}

/** The invariant of `migrations.ts`. */
function checkInvariant(database: Database.Database): void {
  const broken = database
    .prepare(
      `SELECT path FROM file WHERE
         (same = 1 AND (kind = 0 OR hash IS NULL OR base_kind IS NOT NULL OR base_size IS NOT NULL
                        OR base_executable IS NOT NULL OR base_hash IS NOT NULL))
         OR (same = 0 AND kind = 0 AND base_kind IS NULL)
         OR (same = 0 AND base_kind = kind AND base_hash = hash AND base_executable = executable)`,
    )
    .pluck()
    .all();
  expect(broken).toEqual([]);
}

describe('the file table', () => {
  it('equals a plain map after any calls in any order', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const { database, table, blobs } = open();
        const model = new Model();
        for (const step of all) {
          step(table, model);
          model.sweep();
        }
        checkInvariant(database);
        checkRows(table, model);
        checkTotals(table, model);
        const files = [...model.rows.values()].filter(({ base }) => base?.kind === 'file').length;
        if (files > 0) expect(table.baseEntries('', '\u{10ffff}', REPOSITORY)).toBeUndefined();
        const unplaced = baseEntriesOf(model).map((entry) =>
          entry.kind === 'file' ? { ...entry, location: { in: 'nowhere' } } : entry,
        );
        expect(table.unplacedBaseEntries('', '\u{10ffff}')).toEqual(unplaced);
        expect([...table.unplacedBase()].flat()).toEqual(unplaced);
        rememberAll(blobs);
        expect(table.baseEntries('', '\u{10ffff}', REPOSITORY)).toEqual(baseEntriesOf(model));
        database.close();
      }),
      { numRuns: runBudget({ short: 100, long: 300 }) },
    );
  });

  it('gives the base entries of a range, both ends included', () => {
    const { table, blobs } = open();
    rememberAll(blobs);
    for (const path of PATHS) table.setBase(path, { kind: 'link', path, target: 'x' });
    const sorted = PATHS.toSorted(comparePaths);
    const paths = table.baseEntries(sorted[1]!, sorted[4]!, REPOSITORY)!.map((entry) => entry.path);
    expect(paths).toEqual(sorted.slice(1, 5));
    const unplaced = table.unplacedBaseEntries(sorted[1]!, sorted[4]!).map((entry) => entry.path);
    expect(unplaced).toEqual(sorted.slice(1, 5));
  });

  it('pages through more rows than one page holds', () => {
    const { database, table } = open();
    const stat: WorkingStat = {
      kind: 'file',
      sizeBytes: 1,
      mtimeMs: 1,
      ctimeMs: 1,
      inode: 1,
      executable: false,
    };
    const paths = Array.from({ length: 9000 }, (_, at) => `f${String(at).padStart(5, '0')}`);
    database.transaction(() => {
      for (const path of paths) table.setWorking(path, stat, null);
    })();
    expect([...table.changes(0)].flat().map(({ path }) => path)).toEqual(paths);
    expect([...table.workingPaths()].flat()).toEqual(paths);
    database.transaction(() => {
      for (const path of paths) table.setBase(path, { kind: 'folder', path });
    })();
    expect([...table.unplacedBase()].flat().map(({ path }) => path)).toEqual(paths);
    table.clearBase();
    expect([...table.changes(0, { below: 'f000' })].flat()).toHaveLength(100);
    expect(table.pendingTotals({ repository: REPOSITORY })).toEqual({
      files: 9000,
      bytes: 9000,
      placed: { files: 0, bytes: 0 },
    });
  });

  it('returns large files with all their chunks, in pages bounded by content, in order and each once', () => {
    const { blobs, database, table } = open();
    const stat = { kind: 'file', mtimeMs: 1, ctimeMs: 1, inode: 1, executable: false } as const;
    const hashOf = (text: string) => createHash('sha256').update(text).digest('hex') as BlobHash;
    const chunksOf = (path: string) =>
      Array.from({ length: 3 }, (_, at) => ({ hash: hashOf(`${path} ${at}`), sizeBytes: 100_000_000_000 }));
    const large = Array.from({ length: 10 }, (_, at) => `large ${at}`);
    const small = Array.from({ length: 10_000 }, (_, at) => `small ${String(at).padStart(5, '0')}`);
    database.transaction(() => {
      for (const path of large) {
        table.setWorking(path, { ...stat, sizeBytes: 300_000_000_000 }, hashOf(path));
        blobs.add(hashOf(path), { in: 'chunks', chunks: chunksOf(path) });
      }
      table.setWorking('large: unplaced', { ...stat, sizeBytes: 300_000_000_000 }, hashOf('unplaced'));
      for (const path of small) table.setWorking(path, { ...stat, sizeBytes: 1 }, null);
    })();
    const pages = [...table.changes(REPOSITORY)];
    expect(pages.flat().map(({ path }) => path)).toEqual([...large, 'large: unplaced', ...small]);
    expect(pages.map((page) => page.length)).toEqual([4, 4, 4088, 4096, 1819]);
    expect(
      pages
        .flat()
        .slice(0, 11)
        .map(({ location }) => location),
    ).toEqual([...large.map((path) => ({ in: 'chunks', chunks: chunksOf(path) })), undefined]);
    expect([...table.changes(0)].flat().every(({ location }) => location === undefined)).toBe(true);
  });

  it('forgets the base of more rows than a page, and removes rows that held only the base', () => {
    const { database, table } = open();
    const stat = { sizeBytes: 1, mtimeMs: 1, ctimeMs: 1, inode: 1 };
    const paths = Array.from({ length: 9000 }, (_, at) => `l${String(at).padStart(5, '0')}`);
    database.transaction(() => {
      for (const path of paths) table.setWritten({ kind: 'link', path, target: 'x' }, stat);
      for (const path of paths.slice(0, 5000)) table.setAbsent(path);
    })();
    table.clearBase();
    const left = [...table.changes(0)].flat();
    expect(left.map(({ path }) => path)).toEqual(paths.slice(5000));
    expect(left.every(({ before }) => before === undefined)).toBe(true);
  });
});

function baseEntriesOf(model: Model): Entry[] {
  return model.sorted().flatMap(([path, { base }]): Entry[] => {
    if (!base) return [];
    if (base.kind === 'folder') return [{ kind: 'folder', path }];
    if (base.kind === 'link') return [{ kind: 'link', path, target: base.hash! }];
    const { sizeBytes, mtimeNs, executable } = base;
    const { offset } = contents.find((content) => content.hash === base.hash)!;
    const blob = base.hash as BlobHash;
    return [
      {
        kind: 'file',
        path,
        sizeBytes,
        mtimeNs,
        executable,
        blob,
        location: { in: 'pack', pack: PACK, offset },
      },
    ];
  });
}
