import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JobEvent } from '../../../engine/api/events.ts';
import { addCopyOptions, type CopyFlags, createMaxDeleteOption, toCopyRequest } from './tree-options.ts';

let directory: string;
let warnings: JobEvent[] = [];
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'dray-options-'));
  writeFileSync(join(directory, 'rules'), '# comment\n+ keep.bin\n- *.bin\n');
  writeFileSync(join(directory, 'patterns'), '; comment\n  *.jpg \n\n*.png\n');
  writeFileSync(join(directory, 'paths'), '# comment\na b\r\n\n sub/c\n');
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** The request that a command line makes to the engine. */
function requestOf(...options: string[]) {
  warnings = [];
  const command = new Command('sync').exitOverride().configureOutput({ outputError: () => {} });
  addCopyOptions(command);
  command.addOption(createMaxDeleteOption());
  command.parse(options, { from: 'user' });
  const { destination, source, ...rest } = toCopyRequest(
    { source: 'from', destination: 'to', context: { directory, emit: (event) => warnings.push(event) } },
    command.opts<CopyFlags>(),
  );
  expect({ source: source.place, destination: destination.place }).toEqual({
    source: 'from',
    destination: 'to',
  });
  const connections = { source: source.connection, destination: destination.connection };
  return { ...rest, ...(source.connection || destination.connection ? { connections } : {}) };
}

/** `+ PATTERN` and `- PATTERN`, the form that the engine gets. */
function rulesOf(...options: string[]): readonly string[] {
  const { filter } = requestOf(...options);
  return (filter?.rules ?? []).map(({ action, pattern }) => `${action === 'include' ? '+' : '-'} ${pattern}`);
}

describe('The options of copy and sync', () => {
  it('request nothing when none is given', () => {
    expect(requestOf()).toEqual({});
    expect(requestOf('--delta')).toEqual({});
  });

  it.each([
    ['--dry-run', { dryRun: true }],
    ['-n', { dryRun: true }],
    ['--explain', {}],
    ['-u', { update: true }],
    ['--no-check-dest', { noCheckDestination: true }],
    ['--no-confirm', { noConfirm: true }],
    ['--immutable', { immutable: true }],
    ['--special-modes', { specialModes: true }],
    ['--links', { links: true }],
    ['--checksum', { compare: 'checksum' }],
    ['--size-only', { compare: 'sizeOnly' }],
    ['--no-index', { noIndex: true }],
    ['--no-delta', { delta: false }],
    ['--storage-class=GLACIER', { storageClass: 'GLACIER' }],
    ['--content-type=text/x-log', { contentType: 'text/x-log' }],
    ['--part-size=64M', { partSizeBytes: 64 * 1024 ** 2 }],
    ['--max-delete=500', { maxDelete: { files: 500 } }],
    ['--max-delete=0', { maxDelete: { files: 0 } }],
    ['--max-delete=20%', { maxDelete: { percent: 20 } }],
    ['--min-size=1k', { filter: { minSizeBytes: 1024 } }],
    ['--max-size=0', { filter: { maxSizeBytes: 0 } }],
    ['--newer=2026-01-31T00:00Z', { filter: { newerThanMs: Date.UTC(2026, 0, 31) } }],
    ['--older=2026-01-31T00:00Z', { filter: { olderThanMs: Date.UTC(2026, 0, 31) } }],
  ])('%s is %j', (option, expected) => {
    expect(requestOf(option)).toEqual(expected);
  });

  it('collect metadata, and refuse more than an object can have', () => {
    expect(requestOf('--metadata', 'Owner=Ada', '--metadata', 'note=a=b')).toEqual({
      metadata: { owner: 'Ada', note: 'a=b' },
    });
    for (const value of ['=x', 'a b=c', `a=${'x'.repeat(2048)}`])
      expect(() => requestOf('--metadata', value), value).toThrow();
  });

  it('set the connection of one side only; the backup folder uses that of the destination', () => {
    const source = { endpoint: 'http://a', region: 'r', profile: 'p', pathStyle: true, anonymous: true };
    expect(
      requestOf(
        '--source-endpoint=http://a',
        '--source-region=r',
        '--source-profile=p',
        '--source-path-style',
        '--source-anonymous',
      ),
    ).toEqual({ connections: { source } });
    const destination = { endpoint: 'http://b', region: 's', profile: 'q', pathStyle: true };
    expect(
      requestOf(
        '--dest-endpoint=http://b',
        '--dest-region=s',
        '--dest-profile=q',
        '--dest-path-style',
        '--backup-dir=old',
      ),
    ).toEqual({ connections: { destination }, backupDirectory: { place: 'old', connection: destination } });
  });

  it('order rules by option as rclone does, and warn if they were given in another order', () => {
    const given = ['--filter-from=rules', '--exclude=a', '--include-from=patterns', '--filter=+ c'];
    expect(rulesOf(...given, '--include=b', '--exclude-from=patterns', '--exclude=d')).toEqual([
      ...['+ b', '+ *.jpg', '+ *.png', '- a', '- d', '- *.jpg', '- *.png'],
      ...['+ c', '+ keep.bin', '- *.bin', '- /**'],
    ]);
    expect(warnings).toMatchObject([
      {
        warning: 'rulesReordered',
        message: expect.stringMatching(
          /--include, then --include-from, then --exclude, .*--filter to choose/,
        ),
      },
    ]);
  });

  it('keep the order of --filter, and exclude nothing else', () => {
    expect(rulesOf('--filter=- a', '--filter=+ b', '--filter=- c')).toEqual(['- a', '+ b', '- c']);
    expect(rulesOf('--exclude=a', '--filter=+ b')).toEqual(['- a', '+ b']);
    expect(warnings).toEqual([]);
  });

  it('clear the rules of all earlier options at a "!", but keep excluding what --include does not match', () => {
    expect(rulesOf('--include=a', '--exclude=b', '--filter=!', '--filter=+ c')).toEqual(['+ c', '- /**']);
  });

  it('keep leading spaces of a pattern', () => {
    expect(rulesOf('--include=  a', '--exclude= b', '--filter=-  c ')).toEqual([
      ...['+   a', '-  b', '-  c ', '- /**'],
    ]);
  });

  it('report an invalid rule with its place and the right form', () => {
    for (const [option, text, origin] of [
      ['--filter=*.bin', '*.bin', '--filter'],
      ['--filter=+', '+', '--filter'],
      ['--filter-from=patterns', '*.jpg', 'patterns, line 2'],
    ] as const)
      expect(() => requestOf(option)).toThrow(
        `"${text}" (${origin}) is no rule: write "+ PATTERN" to take or "- PATTERN" to leave out.`,
      );
  });

  it('read paths from a file, one per line, relative to the folder that the command runs in', () => {
    expect(requestOf('--files-from', 'paths')).toEqual({ filter: { filesFrom: ['a b', ' sub/c'] } });
    expect(() => requestOf('--files-from', 'absent')).toThrow(/absent cannot be read \(ENOENT\)/);
  });
});
