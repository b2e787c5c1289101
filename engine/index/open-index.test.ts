import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BlobHash, BlobLocation, PackHash } from '../model/entry.ts';
import { MIGRATIONS } from './migrations.ts';
import { copyIndex, type Index, openIndex } from './open-index.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dray-index-'));
  path = join(folder, 'index.db');
});
afterEach(() => rmSync(folder, { recursive: true }));

const blob = (digit: string) => digit.repeat(64) as BlobHash;
const pack = (digit: string) => digit.repeat(64) as PackHash;
const unread = { kind: 'file', sizeBytes: 1, mtimeMs: 1, ctimeMs: 1, inode: 1, executable: false } as const;

function withIndex<T>(work: (index: Index) => T): T {
  const { index } = openIndex(path);
  try {
    return work(index);
  } finally {
    index.close();
  }
}

function versionOf(file: string): unknown {
  const database = new Database(file, { readonly: true });
  try {
    return database.pragma('user_version', { simple: true });
  } finally {
    database.close();
  }
}

/** A database with enough rows for many pages, all in one file. */
function fill(rows = 5000): void {
  withIndex((index) =>
    index.transaction(() => {
      for (let at = 0; at < rows; at += 1) index.files.setWorking(`file-${at}`, unread, null);
    }),
  );
}

describe('the schema', () => {
  it('is made in a new file, once', () => {
    const { index, isNew, rebuiltBecause } = openIndex(path);
    expect({ isNew, rebuiltBecause }).toEqual({ isNew: true, rebuiltBecause: undefined });
    index.settings.base = 'x';
    index.close();
    expect(versionOf(path)).toBe(MIGRATIONS.length);
    const again = openIndex(path);
    expect(again.isNew).toBe(false);
    expect(again.index.settings.base).toBe('x');
    again.index.close();
  });

  it.each(MIGRATIONS.map((_, at) => at))('is migrated from version %i', (version) => {
    const database = new Database(path);
    for (const step of MIGRATIONS.slice(0, version)) database.exec(step);
    database.pragma(`user_version = ${version}`);
    database.close();
    withIndex((index) => index.files.setWorking('a', unread, null));
    expect(versionOf(path)).toBe(MIGRATIONS.length);
  });

  it('keeps each blob of a version 1 index once', () => {
    const database = new Database(path);
    database.exec(MIGRATIONS[0]!);
    database.pragma('user_version = 1');
    database.exec(`
      INSERT INTO repository (id, uuid, epoch) VALUES (1, 'id', 0);
      INSERT INTO pack (id, repository, hash) VALUES (1, 1, '${pack('e')}');
      INSERT INTO blob VALUES (1, '${blob('1')}', 1, NULL, NULL, NULL), (1, '${blob('2')}', 2, 1, 7, NULL);`);
    database.close();
    withIndex((index) => {
      const blobs = index.blobsOf(index.repositories.bind('id').id);
      expect(blobs.locate(blob('1'))).toEqual({ in: 'object' });
      blobs.add(blob('2'), { in: 'object' });
      expect(blobs.locate(blob('2'))).toEqual({ in: 'pack', pack: pack('e'), offset: 7 });
      expect(blobs.has(blob('3'))).toBe(false);
    });
  });

  it('of a newer Dray is refused and not changed', () => {
    withIndex((index) => {
      index.settings.base = 'x';
    });
    const database = new Database(path);
    database.pragma(`user_version = ${MIGRATIONS.length + 1}`);
    database.close();
    const error = { code: 'formatTooNew', message: expect.stringMatching(/newer Dray, or delete/) };
    expect(() => openIndex(path)).toThrow(expect.objectContaining(error));
    expect(existsSync(`${path}.damaged`)).toBe(false);
    expect(versionOf(path)).toBe(MIGRATIONS.length + 1);
  });
});

describe('a damaged index', () => {
  it.each([
    ['is no database', () => writeFileSync(path, Buffer.alloc(100_000, 'garbage '))],
    ['is cut to its first page', () => truncateSync(path, 4096)],
    [
      'is the database of something else',
      () => {
        rmSync(path);
        const database = new Database(path);
        database.exec('CREATE TABLE file (name TEXT); CREATE TABLE setting (x)');
        database.close();
      },
    ],
  ])('that %s is set aside and replaced', (_, spoil) => {
    fill();
    spoil();
    const { index, isNew, rebuiltBecause } = openIndex(path);
    expect(isNew).toBe(true);
    expect(rebuiltBecause).toEqual(expect.any(String));
    expect(index.files.pageOfStats('')).toEqual([]);
    index.close();
    expect(existsSync(`${path}.damaged`)).toBe(true);
    expect(openIndex(path)).toMatchObject({ isNew: false });
  });

  it('found during a job fails with its path, and the next opening replaces the file', () => {
    fill();
    const { index } = openIndex(path);
    try {
      // Write outside the open database, as a failing disk would, to pages that it has not read yet.
      const bytes = Buffer.alloc(64 * 1024, 0xff);
      const other = new Database(path);
      const pages = Number(other.pragma('page_count', { simple: true }));
      other.close();
      overwrite(path, Math.floor(pages / 2) * 4096, bytes);
      const error = {
        code: 'damaged',
        message: expect.stringMatching(/index\.db is damaged.*Run the command again/),
      };
      expect(() => [...index.files.changes(0)]).toThrow(expect.objectContaining(error));
    } finally {
      index.close();
    }
    const again = openIndex(path);
    expect(again.isNew).toBe(true);
    expect(again.index.files.pageOfStats('')).toEqual([]);
    again.index.close();
    expect(existsSync(`${path}.damaged`)).toBe(true);
  });

  it('is not copied', () => {
    fill();
    truncateSync(path, 100_000);
    expect(() => copyIndex(path, join(folder, 'copy.db'))).toThrow(
      expect.objectContaining({ code: 'damaged' }),
    );
  });
});

describe('a transaction', () => {
  it('is rolled back when its work fails, and the error is passed on unchanged', () => {
    withIndex((index) => {
      const failure = new Error('the work');
      const work = () => {
        index.files.setWorking('a', unread, null);
        index.transaction(() => index.files.setWorking('b', unread, null));
        throw failure;
      };
      expect(() => index.transaction(work)).toThrow(failure);
      expect([...index.files.workingPaths()]).toEqual([]);
    });
  });

  it('that was rolled back leaves no trace in later additions', () => {
    withIndex((index) => {
      const blobs = index.blobsOf(index.repositories.bind('id').id);
      const place = { in: 'pack', pack: pack('e'), offset: 7 } as const;
      const work = () => {
        blobs.add(blob('1'), place);
        throw new Error('undone');
      };
      expect(() => index.transaction(work)).toThrow('undone');
      blobs.add(blob('2'), place);
      expect(blobs.has(blob('1'))).toBe(false);
      expect(blobs.locate(blob('2'))).toEqual(place);
    });
  });
});

describe('the knowledge of a repository', () => {
  it('returns objects, packs and chunks as they were added', () => {
    withIndex((index) => {
      const blobs = index.blobsOf(index.repositories.bind('id').id);
      expect(blobs.isEmpty()).toBe(true);
      blobs.add(blob('0'), { in: 'nowhere' });
      expect(blobs.isEmpty()).toBe(true);
      const chunks = [
        { hash: blob('4'), sizeBytes: 10 },
        { hash: blob('5'), sizeBytes: 20 },
      ];
      blobs.add(blob('1'), { in: 'object' });
      blobs.add(blob('2'), { in: 'pack', pack: pack('e'), offset: 0 });
      blobs.add(blob('3'), { in: 'chunks', chunks });
      expect(blobs.locate(blob('1'))).toEqual({ in: 'object' });
      expect(blobs.locate(blob('2'))).toEqual({ in: 'pack', pack: pack('e'), offset: 0 });
      expect(blobs.locate(blob('3'))).toEqual({ in: 'chunks', chunks });
      expect(['1', '2', '3', '4', '5'].map((digit) => blobs.objectOf(blob(digit)) !== undefined)).toEqual([
        true,
        false,
        false,
        true,
        true,
      ]);
      expect(blobs.locate(blob('6'))).toBeUndefined();
      expect(blobs.isEmpty()).toBe(false);
      blobs.remove(blob('1'));
      expect(blobs.has(blob('1'))).toBe(false);
    });
  });

  it('keeps the first place of a blob that has two', () => {
    withIndex((index) => {
      const blobs = index.blobsOf(index.repositories.bind('id').id);
      blobs.add(blob('1'), { in: 'pack', pack: pack('e'), offset: 5 });
      blobs.add(blob('1'), { in: 'object' });
      expect(blobs.locate(blob('1'))).toEqual({ in: 'pack', pack: pack('e'), offset: 5 });
    });
  });

  it('distinguishes hashes with the same start', () => {
    withIndex((index) => {
      const blobs = index.blobsOf(index.repositories.bind('id').id);
      const [one, two, three] = ['1', '2', '3'].map((end) => `${'a'.repeat(63)}${end}` as BlobHash);
      blobs.add(one!, { in: 'object' });
      blobs.addPack(pack('e'), [
        { hash: one!, offset: 0 },
        { hash: two!, offset: 3 },
      ]);
      expect(blobs.locate(one!)).toEqual({ in: 'object' });
      expect(blobs.locate(two!)).toEqual({ in: 'pack', pack: pack('e'), offset: 3 });
      blobs.remove(one!);
      expect([one!, two!, three!].map((hash) => blobs.has(hash))).toEqual([false, true, false]);
    });
  });

  it('keeps stored sizes and generations', () => {
    withIndex((index) => {
      const blobs = index.blobsOf(index.repositories.bind('id').id);
      const chunks = [
        { hash: blob('4'), sizeBytes: 10, storedBytes: 3 },
        { hash: blob('5'), sizeBytes: 20, generation: 2 },
        { hash: blob('6'), sizeBytes: 30, storedBytes: 4, generation: 2 },
      ];
      const places: readonly [string, BlobLocation][] = [
        ['1', { in: 'object', storedBytes: 7, generation: 3 }],
        ['2', { in: 'pack', pack: pack('e'), offset: 1, storedBytes: 9 }],
        ['3', { in: 'chunks', chunks }],
      ];
      for (const [digit, place] of places) blobs.add(blob(digit), place);
      for (const [digit, place] of places) expect(blobs.locate(blob(digit))).toEqual(place);
      expect(blobs.objectOf(blob('6'))).toEqual({ storedBytes: 4, generation: 2 });
      expect(blobs.objectOf(blob('2'))).toBeUndefined();
    });
  });

  it('removes and refuses what a collection avoids', () => {
    withIndex((index) => {
      const blobs = index.blobsOf(index.repositories.bind('id').id);
      const filter = {
        avoidsObject: (hash: BlobHash, generation?: number) => hash === blob('1') && generation === undefined,
        avoidsPack: (hash: PackHash) => hash === pack('e'),
      };
      const addAll = () => {
        blobs.add(blob('1'), { in: 'object' });
        blobs.add(blob('2'), { in: 'pack', pack: pack('e'), offset: 0 });
        blobs.addPack(pack('e'), [{ hash: blob('7'), offset: 9 }]);
        blobs.add(blob('3'), { in: 'chunks', chunks: [{ hash: blob('1'), sizeBytes: 5 }] });
        blobs.add(blob('4'), { in: 'pack', pack: pack('f'), offset: 0 });
        blobs.add(blob('5'), { in: 'object' });
      };
      const known = () => ['1', '2', '3', '4', '5', '7'].filter((digit) => blobs.has(blob(digit)));
      addAll();
      expect(known()).toEqual(['1', '2', '3', '4', '5', '7']);
      blobs.removeAvoided(filter);
      expect(known()).toEqual(['4', '5']);
      blobs.addOnly(filter);
      addAll();
      expect(known()).toEqual(['4', '5']);
      blobs.add(blob('1'), { in: 'object', generation: 1 });
      expect(blobs.locate(blob('1'))).toEqual({ in: 'object', generation: 1 });
    });
  });

  it('belongs to that repository only, with its round and the lists of that', () => {
    withIndex((index) => {
      const one = index.repositories.bind('one');
      const two = index.repositories.bind('two');
      expect([one.round, two.round]).toEqual([0, 0]);
      for (const { id } of [one, two]) {
        index.blobsOf(id).add(blob('1'), { in: 'pack', pack: pack('e'), offset: id });
        index.repositories.rememberConditionalWrites(id, true);
      }
      const lists = new Map([['a'.repeat(64), Buffer.from('list')]]);
      index.repositories.saveRound(one.id, 4, lists);
      expect(index.repositories.bind('one')).toMatchObject({ round: 4, conditionalWrites: true });
      expect(index.repositories.bind('two').round).toBe(0);
      expect(index.repositories.avoidLists(one.id)).toEqual(lists);
      expect(index.repositories.avoidLists(two.id).size).toBe(0);
      index.repositories.saveRound(one.id, 5, new Map());
      expect(index.repositories.avoidLists(one.id).size).toBe(0);
      index.repositories.forgetObjects(one.id);
      expect(index.blobsOf(one.id).isEmpty()).toBe(true);
      expect(index.blobsOf(two.id).has(blob('1'))).toBe(true);
      // A table that was already open continues with the current rows.
      index.blobsOf(one.id).add(blob('2'), { in: 'pack', pack: pack('e'), offset: 1 });
      expect(index.blobsOf(one.id).locate(blob('2'))).toEqual({ in: 'pack', pack: pack('e'), offset: 1 });
    });
  });
});

function overwrite(file: string, at: number, bytes: Uint8Array): void {
  const handle = openSync(file, 'r+');
  try {
    writeSync(handle, bytes, 0, bytes.length, at);
  } finally {
    closeSync(handle);
  }
}
