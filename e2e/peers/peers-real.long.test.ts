/**
 * A real tree and a real database go from one serving machine to another, and the system's own tools compare
 * the results. The tree is of packages of this project's node_modules, or the folder in DRAY_REAL_TREE. The
 * database is SQLite's, with DRAY_REAL_DATABASE_MIB MiB (16 by default, 64 in `npm run test:long`), and
 * SQLite changes it between two runs. The tests change nothing outside their own folders.
 */

import { execFile } from 'node:child_process';
import { cpSync, lstatSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import { createSandbox, type Sandbox } from '../../engine/jobs/session/job.fixture.ts';
import { describeTree } from '../../engine/jobs/trees/same-trees.fixture.ts';
import { plainPlace } from '../../engine/peer/peer.fixture.ts';
import { listPackages, PACKAGE_FILES_MIN, PACKAGES } from '../real-packages.ts';
import { type Serving, startServing, stopServing } from '../servers/dray-serve.ts';

const MIB = 1024 * 1024;
const TOKEN = 'token-of-the-tests-that-is-long-enough';

const given = process.env.DRAY_REAL_TREE;
const databaseMib = Number(process.env.DRAY_REAL_DATABASE_MIB ?? 64);
// A tree or database that the user chose may have any size.
const timeoutMs = given || databaseMib > 64 ? 60 * 60_000 : 10 * 60_000;

let sandbox: Sandbox;
let servers: readonly Serving[];

beforeAll(async () => {
  sandbox = createSandbox();
  writeFileSync(sandbox.path('token'), TOKEN, { mode: 0o600 });
  for (const name of ['here/data', 'there']) mkdirSync(sandbox.path(name), { recursive: true });
  copyTree(given ?? PACKAGES, given ? readdirSync(given) : listPackages(), sandbox.path('here/tree'));
  mkdirSync(sandbox.path('here/tree/empty/within'), { recursive: true });
  servers = await Promise.all([serve('here', ['--read-only']), serve('there')]);
}, timeoutMs);
afterAll(async () => {
  await Promise.all((servers ?? []).map(stopServing));
  sandbox?.[Symbol.dispose]();
});

function copyTree(from: string, names: readonly string[], to: string): void {
  const options = { recursive: true, verbatimSymlinks: true, preserveTimestamps: true } as const;
  for (const name of names) cpSync(join(from, name), join(to, name), options);
}

const serve = (folder: string, more: readonly string[] = []) =>
  startServing({ folder: sandbox.path(folder), tokenFile: sandbox.path('token'), more });
const place = (at: 0 | 1, path: string) => plainPlace(servers[at]!.port, path);

async function run(...parameters: string[]) {
  const { exitCode, stderr, stdout } = await runCli([...parameters, '--json'], {
    cwd: sandbox.folder,
    environment: { DRAY_TOKEN: TOKEN, DRAY_CACHE: sandbox.path('cache') },
  });
  expect(stderr).toBe('');
  expect(exitCode).toBe(0);
  return JSON.parse(stdout.trim().split('\n').at(-1)!);
}

async function sha256(...paths: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)('sha256sum', ['--', ...paths], { maxBuffer: 64 * MIB });
  return stdout
    .trim()
    .split('\n')
    .map((line) => line.split(' ')[0]!);
}

async function sumsBelow(folder: string): Promise<string> {
  const command = 'find . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum';
  const { stdout } = await promisify(execFile)('sh', ['-c', command], { cwd: folder, maxBuffer: 256 * MIB });
  return stdout;
}

function countFiles(folder: string): number {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => lstatSync(join(folder, name)).isFile()).length;
}

describe(`${given ?? "packages of this project's node_modules"}, from machine to machine`, () => {
  it(
    'arrives with equal checksums, links, modes and times, and is not sent twice',
    async () => {
      const files = countFiles(sandbox.path('here/tree'));
      expect(files).toBeGreaterThan(given ? 0 : PACKAGE_FILES_MIN);
      const copied = await run('copy', place(0, 'tree'), place(1, 'tree'));
      expect(copied).toMatchObject({ result: 'copied', failed: 0 });
      // Both sides put many small files into one request.
      expect(copied.requests.total).toBeLessThan(files / 4);
      expect(await sumsBelow(sandbox.path('there/tree'))).toBe(await sumsBelow(sandbox.path('here/tree')));
      rmSync(sandbox.path('there/tree/.dray-tmp'), { recursive: true, force: true });
      expect(describeTree(sandbox.path('there/tree'))).toEqual(describeTree(sandbox.path('here/tree')));
      expect(await run('copy', place(0, 'tree'), place(1, 'tree'))).toMatchObject({
        result: 'upToDate',
        copiedFiles: 0,
        sentBytes: 0,
        receivedBytes: 0,
      });
      expect(await run('check', place(0, 'tree'), place(1, 'tree'))).toMatchObject({
        differing: 0,
        onlyInSource: 0,
        onlyInDestination: 0,
      });
    },
    timeoutMs,
  );
});

describe(`a database of ${databaseMib} MiB, from machine to machine`, () => {
  const paths = () =>
    [sandbox.path('here/data/base.sqlite'), sandbox.path('there/data/base.sqlite')] as const;

  it(
    'changed by SQLite arrives with an equal checksum, and little of it is sent',
    async () => {
      const [here, there] = paths();
      fillDatabase(here, databaseMib * MIB);
      const { size } = statSync(here);
      expect(size).toBeGreaterThanOrEqual(databaseMib * MIB);
      await run('copy', place(0, 'data'), place(1, 'data'));
      expect(new Set(await sha256(here, there)).size).toBe(1);

      changeDatabase(here);
      expect(new Set(await sha256(here, there)).size).toBe(2);
      const ends = [place(0, 'data/base.sqlite'), place(1, 'data/base.sqlite')] as const;
      // Blocks have the size of SQLite's pages.
      const { sentBytes } = await run('delta', '--block-size', '4KiB', ...ends);
      expect(new Set(await sha256(here, there)).size).toBe(1);
      expect(sentBytes).toBeGreaterThan(0);
      expect(sentBytes).toBeLessThan(0.1 * size);

      const database = new Database(there, { readonly: true });
      expect(database.pragma('integrity_check', { simple: true })).toBe('ok');
      database.close();
    },
    timeoutMs,
  );
});

const ROWS_AT_ONCE = 10_000;

function fillDatabase(path: string, sizeBytes: number): void {
  const database = new Database(path);
  database.exec('CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER, filler BLOB)');
  const fill = database.prepare(
    'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) INSERT INTO account (balance, filler) SELECT 0, randomblob(200) FROM n',
  );
  const pageBytes = database.pragma('page_size', { simple: true }) as number;
  while ((database.pragma('page_count', { simple: true }) as number) * pageBytes < sizeBytes)
    fill.run(ROWS_AT_ONCE);
  database.close();
}

/** Changes the database as a day's work does: some rows updated, some deleted, some added. */
function changeDatabase(path: string): void {
  const database = new Database(path);
  const { rows } = database.prepare('SELECT max(id) AS rows FROM account').get() as { rows: number };
  const change = database.prepare(
    'UPDATE account SET balance = balance + 1, filler = randomblob(200) WHERE id = ?',
  );
  const remove = database.prepare('DELETE FROM account WHERE id BETWEEN ? AND ?');
  database.transaction(() => {
    // About two rows of each thousand: with 18 rows to a page, under 4 % of the pages.
    for (let id = 7; id <= rows; id += 500) change.run(id);
    remove.run(Math.floor(rows / 2), Math.floor(rows / 2) + 500);
    for (let count = 0; count < 500; count += 1)
      database.prepare('INSERT INTO account (balance, filler) VALUES (1, randomblob(200))').run();
  })();
  database.close();
}
