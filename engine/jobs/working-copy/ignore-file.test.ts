import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ignoreLineOf } from '../../api/text/ignore-line.ts';
import { addIgnoreFile, isIgnored } from '../../files/scan/ignore-rules.ts';
import { initWorkspace } from '../remotes/init.ts';
import { createSandbox, type Sandbox, testContext } from '../session/job.fixture.ts';
import { ignorePath, unignorePath } from './ignore-file.ts';

let sandbox: Sandbox;
let root: string;
const file = () => join(root, '.drayignore');
beforeEach(async () => {
  sandbox = createSandbox();
  root = sandbox.path('work');
  mkdirSync(root);
  await initWorkspace(testContext(root), { remoteUrl: sandbox.path('remote') });
});
afterEach(() => sandbox[Symbol.dispose]());

const name = fc
  .string({
    unit: fc.constantFrom('a', 'b', '*', '?', '[', ']', '\\', ' ', '!', '#', '-', 'é', '\t', '.'),
    minLength: 1,
  })
  .filter((text) => text !== '.' && text !== '..');
const path = fc
  .tuple(fc.array(name, { minLength: 1, maxLength: 3 }), fc.boolean())
  .map(([parts, isFolder]) => `${parts.join('/')}${isFolder ? '/' : ''}`);

describe('the line that ignores a path', () => {
  it('matches this path and no other one', () => {
    fc.assert(
      fc.property(path, path, (one, other) => {
        const rules = addIgnoreFile(undefined, '', `${ignoreLineOf(one)}\n`);
        expect(isIgnored(rules, one)).toBe(true);
        // A file's line also ignores a folder of its name.
        if (other.replace(/\/$/, '') !== one.replace(/\/$/, '')) expect(isIgnored(rules, other)).toBe(false);
      }),
    );
  });

  it('is undefined for a name with a line break', () => {
    expect([ignoreLineOf('a\nb'), ignoreLineOf('a\r'), ignoreLineOf('')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(() => ignorePath(testContext(root), 'a\nb')).toThrow(/Rename it, or ignore its folder/);
  });

  it.each([
    ['# mine\n*.tmp', '# mine\n*.tmp\n/é.bin\n'],
    ['*.tmp\r\n', '*.tmp\r\n/é.bin\r\n'],
    ['', '/é.bin\n'],
  ])('is added to %j, and taken back byte for byte', (before, after) => {
    writeFileSync(file(), Buffer.concat([Buffer.from([0xff]), Buffer.from(before)]));
    chmodSync(file(), 0o600);
    const bytes = readFileSync(file());
    const added = ignorePath(testContext(root), 'é.bin');
    const text = before === '' ? `\n${after}` : after;
    expect(readFileSync(file()).subarray(1).toString()).toBe(text);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(unignorePath(testContext(root), added)).toBe(true);
    expect(readFileSync(file())).toEqual(bytes);
  });

  it('is removed from the middle, and together with a file that it created', () => {
    const added = ignorePath(testContext(root), 'logs/');
    expect(unignorePath(testContext(root), added)).toBe(true);
    expect(existsSync(file())).toBe(false);
    expect(unignorePath(testContext(root), added)).toBe(false);
    ignorePath(testContext(root), 'logs/');
    writeFileSync(file(), `${readFileSync(file(), 'utf8')}other\n`);
    expect(unignorePath(testContext(root), added)).toBe(true);
    expect(readFileSync(file(), 'utf8')).toBe('other\n');
  });

  it('follows no link, and needs a workspace', () => {
    writeFileSync(sandbox.path('elsewhere'), '');
    symlinkSync(sandbox.path('elsewhere'), file());
    expect(() => ignorePath(testContext(root), 'a')).toThrow(/is not a file/);
    expect(readFileSync(sandbox.path('elsewhere'), 'utf8')).toBe('');
    mkdirSync(sandbox.path('plain'));
    expect(() => ignorePath(testContext(sandbox.path('plain')), 'a')).toThrow();
  });
});
