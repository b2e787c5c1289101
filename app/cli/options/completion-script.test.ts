import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildProgram } from '../program.ts';
import { formatCompletionScript } from './completion-script.ts';
import { buildCompletionTree, flattenTree } from './completion-tree.ts';

const program = buildProgram({ environment: {}, exit: () => {}, exitCode: 0 });
const isInstalled = (shell: string) => spawnSync(shell, ['--version']).error === undefined;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'dray-completion-'));
  for (const shell of ['bash', 'zsh', 'fish'] as const) {
    writeFileSync(join(folder, shell), formatCompletionScript(program, shell));
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The words that bash offers for the last word of a command line. */
function completeInBash(...words: string[]): string[] {
  const source = `source ${join(folder, 'bash')}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _dray; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr, status } = spawnSync('bash', ['-c', source, 'bash', 'dray', ...words], {
    encoding: 'utf8',
  });
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  return stdout.split('\n').filter((line) => line !== '');
}

describe('the completion tree', () => {
  it('holds every command with its own options and the global ones, and nothing hidden', () => {
    const nodes = flattenTree(buildCompletionTree(program));
    const push = nodes.find((node) => node.path === 'push');
    const names = push?.options.map((option) => option.long ?? option.short) ?? [];
    expect(names).toEqual(
      expect.arrayContaining(['--message', '--explain', '--no-index', '--json', '-C', '--remote']),
    );
    expect(names).not.toContain('--client');
    expect(new Set(names).size).toBe(names.length);
    expect(nodes.map((node) => node.path)).toContain('remote test');
  });
});

describe.skipIf(!isInstalled('bash'))('the bash script (skipped where there is no bash)', () => {
  it('completes commands', () => {
    expect(completeInBash('pu')).toEqual(['push', 'pull']);
    expect(completeInBash('')).toEqual(expect.arrayContaining(['init', 'clone', 'completion']));
    expect(completeInBash('').some((word) => word.startsWith('-'))).toBe(false);
  });

  it('completes commands below a command, also after global options with a value', () => {
    expect(completeInBash('remote', '')).toEqual(['add', 'list', 'remove', 'test']);
    expect(completeInBash('--remote', 'push', 'remote', 're')).toEqual(['remove']);
  });

  it('completes options and fixed choices', () => {
    expect(completeInBash('push', '--exp')).toEqual(['--explain']);
    expect(completeInBash('push', '--query', '')).toEqual(['each', 'list', 'auto']);
    expect(completeInBash('init', '--layout', 'p')).toEqual(['packs']);
    expect(completeInBash('completion', '')).toEqual(['bash', 'zsh', 'fish']);
  });

  it('offers file names for values that it does not know', () => {
    expect(completeInBash('push', '--message', '')).toEqual([]);
    expect(completeInBash('restore', '')).toEqual([]);
  });
});

describe.skipIf(!isInstalled('zsh'))('the zsh script (skipped where there is no zsh)', () => {
  it('is accepted by zsh', () => {
    expect(spawnSync('zsh', ['-n', join(folder, 'zsh')], { encoding: 'utf8' })).toMatchObject({
      status: 0,
      stderr: '',
    });
  });
});

describe.skipIf(!isInstalled('fish'))('the fish script (skipped where there is no fish)', () => {
  it('offers commands', () => {
    const source = `source ${join(folder, 'fish')}; complete -C 'dray pu'`;
    const { stdout } = spawnSync('fish', ['-c', source], { encoding: 'utf8' });
    expect(stdout).toMatch(/push/);
  });
});
