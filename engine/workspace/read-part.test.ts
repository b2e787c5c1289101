import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHeldParts } from '../model/held-part.ts';
import { createPartsRead } from './read-part.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'dray-part-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function writeWorkspace(folder: string, only: readonly string[] | undefined): void {
  mkdirSync(join(root, folder, '.dray'), { recursive: true });
  writeFileSync(join(root, folder, '.dray/config.json'), '{}');
  const state = { format: only ? 2 : 1, branch: 'main', bases: {}, ...(only ? { scope: { only } } : {}) };
  writeFileSync(join(root, folder, '.dray/state.json'), JSON.stringify(state));
}
const readIn = (folder = '') => {
  const place = join(root, folder);
  return createPartsRead({ absoluteOf: (path) => join(place, path) }, place);
};

describe('The parts that lie in a folder', () => {
  it('are those of its workspaces, and of none that holds everything', () => {
    writeWorkspace('part', ['a', 'b/*']);
    writeWorkspace('whole', undefined);
    mkdirSync(join(root, 'other/.dray'), { recursive: true });
    const read = readIn();
    for (const folder of ['part/', 'whole/', 'other/', 'absent/']) read.pass(folder);
    const part = { folder: 'part/', below: '', only: ['a', 'b/*'] };
    expect(read.all()).toEqual([part, part]);
  });

  it('are those before and after a change, so that nothing in between counts as deleted', () => {
    writeWorkspace('', ['a']);
    const read = readIn();
    read.pass('');
    writeWorkspace('', ['b']);
    expect(read.all().map(({ only }) => only)).toEqual([['a'], ['b']]);
  });

  it('around a folder have only the patterns that reach into it', () => {
    writeWorkspace('', ['a/b/c', 'secret', '*.csv', 'a/b']);
    const [part] = readIn('a/b').all();
    expect(part).toEqual({ folder: '', below: 'a/b/', only: ['a/b/c', '*.csv', 'a/b'] });
  });

  it.each([
    ['of a newer Dray', '{"format":3}'],
    ['that is no JSON', '{'],
    ['without its patterns', '{"format":2,"scope":{}}'],
  ])('are unknown by a state file %s', (_name, text) => {
    writeWorkspace('', ['a']);
    writeFileSync(join(root, '.dray/state.json'), text);
    const read = readIn();
    read.pass('');
    expect(read.all()[0]).toEqual({ folder: '', below: '', only: null });
  });

  it('are unknown if a link has taken the place of the state file', () => {
    writeWorkspace('', undefined);
    rmSync(join(root, '.dray/state.json'));
    symlinkSync('config.json', join(root, '.dray/state.json'));
    const read = readIn();
    read.pass('');
    expect(read.all()[0]).toMatchObject({ only: null });
  });
});

describe('A path that is absent', () => {
  const outside = (path: string, ...parts: Parameters<ReturnType<typeof createHeldParts>['add']>[0][]) => {
    const held = createHeldParts();
    for (const part of parts) held.add(part);
    return held.isOutside(path);
  };

  it('is outside if a workspace around it does not hold it', () => {
    const part = { folder: 'birds/', below: '', only: ['a'] };
    expect(outside('birds/a/1', part)).toBe(false);
    expect(outside('birds/b', part)).toBe(true);
    expect(outside('cats/b', part)).toBe(false);
    expect(outside('sub/1', { folder: '', below: 'a/', only: ['a/sub'] })).toBe(false);
    expect(outside('other/1', { folder: '', below: 'a/', only: ['a/sub'] })).toBe(true);
  });

  it('is outside of a part that nobody knows, and of one whose patterns are invalid', () => {
    expect(outside('a', { folder: '', below: '', only: null })).toBe(true);
    expect(outside('a', { folder: '', below: '', only: ['../x'] })).toBe(true);
    expect(outside('a', { folder: '', below: '', only: [] })).toBe(true);
  });

  it('is outside if it was so before or after a change', () => {
    const parts = [['a'], ['a', 'b']].map((only) => ({ folder: '', below: '', only }));
    expect(['a', 'b', 'c'].map((path) => outside(path, ...parts))).toEqual([false, true, true]);
  });
});
