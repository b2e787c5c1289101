/**
 * Permissions of plain copies: a file that only its owner may read stays private at every moment, wherever it
 * goes on this machine.
 */
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, utimesSync } from 'node:fs';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobEvent } from '../../api/events.ts';
import { deltaFile } from '../delta/delta-file.ts';
import { createSandbox, type Sandbox, testContext } from '../session/job.fixture.ts';
import { copyTree, syncTree } from './copy-tree.ts';

const MIB = 1024 * 1024;
const MODES = [0o600, 0o640, 0o644, 0o700, 0o755, 0o444, 0o400, 0o660, 0o666, 0o777];

let sandbox: Sandbox;
let umask: number;
beforeEach(() => {
  sandbox = createSandbox();
  umask = process.umask(0o022);
});
afterEach(() => {
  process.umask(umask);
  sandbox[Symbol.dispose]();
});

const environment = () => ({ DRAY_CACHE: sandbox.path('cache') });
const context = (emit?: (event: JobEvent) => void) =>
  testContext(sandbox.folder, { environment: environment(), ...(emit ? { emit } : {}) });
const pair = (source = 'from', destination = 'to') => ({
  source: { place: source },
  destination: { place: destination },
});
const modeOf = (path: string) => lstatSync(sandbox.path(path)).mode & 0o7777;

function write(path: string, mode: number, content: string | Uint8Array = path): void {
  const full = sandbox.write(path, content);
  utimesSync(full, 1_600_000_000, 1_600_000_000);
  chmodSync(full, mode);
}

describe.skipIf(process.platform === 'win32')('A copy between folders of this machine', () => {
  it.each([
    ['an open umask', 0],
    ['the usual umask', 0o022],
    ['a strict umask', 0o077],
  ])('keeps the permissions of files and folders under %s', async (_name, mask) => {
    process.umask(mask);
    for (const mode of MODES) write(`from/folder/${mode.toString(8)}`, mode);
    for (const folder of ['from/folder', 'from']) chmodSync(sandbox.path(folder), 0o750);
    await copyTree(context(), pair());
    for (const mode of MODES) expect(modeOf(`to/folder/${mode.toString(8)}`)).toBe(mode);
    expect([modeOf('to'), modeOf('to/folder')]).toEqual([0o750, 0o750]);
    expect(await copyTree(context(), pair())).toMatchObject({ result: 'upToDate' });
  });

  it('keeps those of a single file, and of files named by --files-from', async () => {
    write('from/a', 0o600);
    write('from/b/c', 0o640);
    await copyTree(context(), pair('from/a', 'single'));
    await copyTree(context(), { ...pair(), filter: { filesFrom: ['b/c', 'a'] } });
    expect([modeOf('single'), modeOf('to/a'), modeOf('to/b/c')]).toEqual([0o600, 0o600, 0o640]);
  });

  it("sets the source's permissions when only they differ, and sends nothing", async () => {
    for (const name of ['a', 'b']) write(`from/${name}`, 0o600);
    await copyTree(context(), pair());
    chmodSync(sandbox.path('to/a'), 0o644);
    const reported = context();
    expect(await copyTree(reported, { ...pair(), dryRun: true })).toMatchObject({
      touchedFiles: 1,
      copiedFiles: 0,
    });
    expect(await copyTree(reported, pair())).toMatchObject({
      touchedFiles: 1,
      copiedFiles: 0,
      unchangedFiles: 1,
    });
    expect(modeOf('to/a')).toBe(0o600);
    chmodSync(sandbox.path('from/a'), 0o640);
    expect(await copyTree(context(), { ...pair(), filter: { filesFrom: ['a'] } })).toMatchObject({
      touchedFiles: 1,
    });
    expect(modeOf('to/a')).toBe(0o640);
    chmodSync(sandbox.path('from/a'), 0o600);
    expect(await copyTree(context(), pair('from/a', 'to/a'))).toMatchObject({ touchedFiles: 1 });
    expect(modeOf('to/a')).toBe(0o600);
  });

  it("gives a replaced file the source's permissions", async () => {
    write('from/a', 0o600, 'new');
    write('to/a', 0o666, 'other old');
    await copyTree(context(), pair());
    expect(modeOf('to/a')).toBe(0o600);
  });

  it('carries no set-uid or set-gid bit of a file, and finds nothing to do in a second run', async () => {
    write('from/a', 0o6755);
    await copyTree(context(), pair());
    expect(modeOf('to/a')).toBe(0o755);
    expect(await copyTree(context(), pair())).toMatchObject({ result: 'upToDate' });
  });

  it("never shows a file to others before it has its source's permissions", async () => {
    process.umask(0);
    write('from/secret', 0o600, Buffer.alloc(64 * MIB, 7));
    chmodSync(sandbox.path('from'), 0o755);
    const seen = new Set<number>();
    let isDone = false;
    const look = () => {
      const folder = sandbox.path('to/.dray-tmp/x').slice(0, -2);
      for (const name of existsSync(folder) ? readdirSync(folder) : [])
        if (lstatSync(`${folder}/${name}`, { throwIfNoEntry: false })?.size)
          seen.add(lstatSync(`${folder}/${name}`).mode & 0o777);
      if (!isDone) setImmediate(look);
    };
    mkdirSync(sandbox.path('to/x').slice(0, -2), { recursive: true });
    look();
    await copyTree(context(), pair()).finally(() => {
      isDone = true;
    });
    expect([...seen].filter((mode) => mode !== 0o600)).toEqual([]);
    expect(modeOf('to/secret')).toBe(0o600);
  });

  it('never opens a folder, while it fills it, to users who may not enter its source', async () => {
    process.umask(0);
    for (const at of ['a', 'b', 'c']) write(`from/private/deep/${at}`, 0o644);
    chmodSync(sandbox.path('from/private/deep'), 0o755);
    chmodSync(sandbox.path('from/private'), 0o500);
    chmodSync(sandbox.path('from'), 0o710);
    const modes: string[] = [];
    await copyTree(
      context((event) => {
        if (event.type !== 'change') return;
        modes.push(['to', 'to/private', 'to/private/deep'].map((path) => modeOf(path).toString(8)).join(' '));
      }),
      pair(),
    );
    expect(modes).toEqual(Array(3).fill('710 700 755'));
    expect([modeOf('to'), modeOf('to/private'), modeOf('to/private/deep')]).toEqual([0o710, 0o500, 0o755]);
    chmodSync(sandbox.path('from/private'), 0o700);
    chmodSync(sandbox.path('to/private'), 0o700);
  });
});

describe.skipIf(process.platform === 'win32')('A file in --backup-dir', () => {
  it('is no more open than before, and neither are the folders around it', async () => {
    for (const name of ['from', 'to']) write(`${name}/private/deep/a`, 0o600, name);
    write('to/private/gone', 0o640);
    for (const name of ['from', 'to']) chmodSync(sandbox.path(`${name}/private`), 0o700);
    await syncTree(context(), { ...pair(), backupDirectory: { place: 'kept' } });
    expect([modeOf('kept/private'), modeOf('kept/private/deep')]).toEqual([0o700, 0o755]);
    expect([modeOf('kept/private/deep/a'), modeOf('kept/private/gone')]).toEqual([0o600, 0o640]);
    expect(readFileSync(sandbox.path('kept/private/deep/a'), 'utf8')).toBe('to');
  });
});

describe.skipIf(process.platform === 'win32')('Standard input', () => {
  it('keeps the permissions of the file that it replaces', async () => {
    write('private', 0o600, 'old');
    const standardInput = Readable.from([Buffer.from('new')]);
    await copyTree({ ...context(), standardInput }, pair('-', 'private'));
    expect([modeOf('private'), readFileSync(sandbox.path('private'), 'utf8')]).toEqual([0o600, 'new']);
  });
});

describe.skipIf(process.platform === 'win32')('A delta of a file on this machine', () => {
  it.each([true, false])('gives its permissions to the copy, in place: %s', async (isInPlace) => {
    process.umask(0);
    write('from', 0o600, Buffer.alloc(2 * MIB, 1));
    await deltaFile(context(), { ...pair(), isInPlace });
    expect(modeOf('to')).toBe(0o600);
  });
});
