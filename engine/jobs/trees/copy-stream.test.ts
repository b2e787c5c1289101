import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobContext } from '../../api/jobs/jobs.ts';
import type { CopyRequest } from '../../api/jobs/trees.ts';
import { createSandbox, type Sandbox, testContext } from '../session/job.fixture.ts';
import { copyTree } from './copy-tree.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox[Symbol.dispose]());

const context = (more: Partial<JobContext> = {}) =>
  testContext(sandbox.folder, { environment: { DRAY_CACHE: sandbox.path('cache') }, ...more });
const input = (...pieces: string[]) => Readable.from(pieces.map((piece) => Buffer.from(piece)));
const toFile = (place: string, more: Partial<CopyRequest> = {}) => ({
  source: { place: '-' },
  destination: { place },
  ...more,
});

/** Collects what was written, as one text. */
function createOutput() {
  const pieces: Uint8Array[] = [];
  return {
    write: async (piece: Uint8Array) => {
      pieces.push(Uint8Array.from(piece));
    },
    text: () => Buffer.concat(pieces).toString(),
  };
}

describe('Standard input', () => {
  it('becomes one complete file, and replaces an existing one', async () => {
    sandbox.write('there', 'before');
    for (const place of ['new', 'there']) {
      const standardInput = input('one ', 'two ', 'three');
      expect(await copyTree(context({ standardInput }), toFile(place))).toMatchObject({
        copiedFiles: 1,
        bytes: 13,
      });
      expect(readFileSync(sandbox.path(place), 'utf8')).toBe('one two three');
    }
    expect(readdirSync(sandbox.folder).sort()).toEqual(['new', 'there']);
  });

  it('may be empty', async () => {
    expect(await copyTree(context({ standardInput: input() }), toFile('empty'))).toMatchObject({ bytes: 0 });
    expect(readFileSync(sandbox.path('empty'), 'utf8')).toBe('');
  });

  it('that breaks off leaves the old file as it was, and nothing else', async () => {
    sandbox.write('there', 'before');
    const standardInput = Readable.from(
      (async function* () {
        yield Buffer.from('half');
        throw new Error('the pipe broke');
      })(),
    );
    await expect(copyTree(context({ standardInput }), toFile('there'))).rejects.toThrow();
    expect(readFileSync(sandbox.path('there'), 'utf8')).toBe('before');
    expect(readdirSync(sandbox.folder)).toEqual(['there']);
  });

  it('needs the name of a file: a folder is refused before anything is read', async () => {
    mkdirSync(sandbox.path('folder'));
    for (const place of ['folder/', 'folder', '.']) {
      const standardInput = input('content');
      await expect(copyTree(context({ standardInput }), toFile(place)), place).rejects.toMatchObject({
        code: expect.stringMatching(/^(usage|conflict)$/),
      });
    }
    expect(readdirSync(sandbox.path('folder'))).toEqual([]);
    expect(readdirSync(sandbox.folder)).toEqual(['folder']);
  });

  it.skipIf(process.platform === 'win32')(
    'does not replace a pipe, and neither does a file; both replace a link to nothing',
    async () => {
      execFileSync('mkfifo', [sandbox.path('pipe')]);
      symlinkSync('pipe', sandbox.path('link to it'));
      symlinkSync('nothing', sandbox.path('link to nothing'));
      sandbox.write('file', 'file');
      const copies = (place: string) => [
        () => copyTree(context({ standardInput: input('content') }), toFile(place)),
        () => copyTree(context(), { source: { place: 'file' }, destination: { place } }),
      ];
      for (const place of ['pipe', 'link to it'])
        for (const copy of copies(place))
          await expect(copy(), place).rejects.toMatchObject({ code: 'usage' });
      expect(lstatSync(sandbox.path('pipe')).isFIFO()).toBe(true);
      expect(lstatSync(sandbox.path('link to it')).isSymbolicLink()).toBe(true);
      for (const copy of copies('link to nothing')) expect(await copy()).toMatchObject({ copiedFiles: 1 });
      expect(readFileSync(sandbox.path('link to nothing'), 'utf8')).toBe('file');
    },
  );

  it('names the missing folder', async () => {
    await expect(
      copyTree(context({ standardInput: input('x') }), toFile('no/folder/file')),
    ).rejects.toMatchObject({
      code: 'io',
    });
    expect(existsSync(sandbox.path('no/folder/file'))).toBe(false);
  });

  it.each([
    ['--immutable', { immutable: true }],
    ['--update', { update: true }],
    ['--backup-dir', { backupDirectory: { place: 'old' } }],
    ['--dry-run', { dryRun: true }],
  ] as const)('with %s is refused: those options need a look at the destination', async (_, more) => {
    sandbox.write('there', 'before');
    await expect(
      copyTree(context({ standardInput: input('after') }), toFile('there', more)),
    ).rejects.toMatchObject({ code: 'usage' });
    expect(readFileSync(sandbox.path('there'), 'utf8')).toBe('before');
  });
});

describe('Standard output', () => {
  it('gets a file byte by byte', async () => {
    const content = 'line\n'.repeat(600_000);
    sandbox.write('file', content);
    const output = createOutput();
    const summary = await copyTree(context({ standardOutput: output.write }), {
      source: { place: 'file' },
      destination: { place: '-' },
    });
    expect(summary).toMatchObject({ copiedFiles: 1, bytes: content.length });
    expect(output.text() === content).toBe(true);
  });

  it('gets no bytes of a folder, or of a missing file', async () => {
    sandbox.write('folder/file', 'x');
    const output = createOutput();
    const run = (place: string) =>
      copyTree(context({ standardOutput: output.write }), { source: { place }, destination: { place: '-' } });
    await expect(run('folder')).rejects.toMatchObject({ code: 'usage' });
    await expect(run('folder/')).rejects.toMatchObject({ code: 'usage' });
    await expect(run('nothing')).rejects.toMatchObject({ code: 'notFound' });
    expect(output.text()).toBe('');
  });

  it('cannot be the destination of standard input', async () => {
    await expect(copyTree(context({ standardInput: input('x') }), toFile('-'))).rejects.toMatchObject({
      code: 'usage',
    });
  });
});
