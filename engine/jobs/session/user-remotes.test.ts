import { lstatSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSandbox, type Sandbox } from './job.fixture.ts';
import { readUserRemotes, userConfigPath, writeUserRemotes } from './user-remotes.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox[Symbol.dispose]());

const at = (path: string) => ({ environment: { DRAY_CONFIG: path } });

describe("A user's remotes", () => {
  it('are stored where the system keeps settings, unless DRAY_CONFIG is set', () => {
    const pathIn = (environment: Record<string, string>) => userConfigPath({ environment });
    expect(pathIn({ DRAY_CONFIG: '/c', XDG_CONFIG_HOME: '/x', HOME: '/h' })).toBe('/c');
    expect(pathIn({ XDG_CONFIG_HOME: '/x', HOME: '/h' })).toBe(join('/x', 'dray', 'config.json'));
    expect(pathIn({ XDG_CONFIG_HOME: '', HOME: '/h' })).toBe(join('/h', '.config', 'dray', 'config.json'));
  });

  it('are an error that says which file to name when DRAY_CONFIG is a folder', () => {
    const folder = dirname(sandbox.path('settings/config.json'));
    for (const use of [() => readUserRemotes(at(folder)), () => writeUserRemotes(at(folder), {})])
      expect(use).toThrow(`Set DRAY_CONFIG=${join(folder, 'config.json')}.`);
    expect(Object.keys(readUserRemotes(at(join(folder, 'config.json'))))).toEqual([]);
  });

  it('are empty at first, and never have the name of a property that every object has', () => {
    const remotes = readUserRemotes(at(sandbox.path('none/config.json')));
    expect(Object.keys(remotes)).toEqual([]);
    for (const name of ['constructor', 'toString', '__proto__']) expect(remotes[name]).toBeUndefined();
  });

  it('are read as they were written, and the rest of the file stays', () => {
    const path = sandbox.write('config.json', '{"theme":"dark","remotes":{"old":{"url":"s3://b"}}}');
    writeUserRemotes(at(path), { new: { url: 's3://c/p' } });
    expect({ ...readUserRemotes(at(path)) }).toEqual({ new: { url: 's3://c/p' } });
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ theme: 'dark' });
  });

  it('are written into the target of a link', () => {
    const real = sandbox.write('dotfiles/config.json', '{"theme":"dark"}');
    const path = sandbox.path('config.json');
    symlinkSync(real, path);
    writeUserRemotes(at(path), { a: { url: 's3://a' } });
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    expect(JSON.parse(readFileSync(real, 'utf8'))).toMatchObject({
      theme: 'dark',
      remotes: { a: { url: 's3://a' } },
    });
  });

  it.each([
    ['no JSON', '{'],
    ['another shape', '{"remotes":{"a":"s3://b"}}'],
    ['no object', 'null'],
  ])('in a damaged file (%s) give an error that names it, and the file is not overwritten', (_, text) => {
    const path = sandbox.write('config.json', text);
    expect(() => readUserRemotes(at(path))).toThrow(
      expect.objectContaining({ code: 'usage', data: { path } }),
    );
    expect(() => writeUserRemotes(at(path), {})).toThrow(expect.objectContaining({ code: 'usage' }));
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  it('give an error with the path when the file cannot be read or written', () => {
    const blocked = join(sandbox.write('file', ''), 'config.json');
    expect(() => readUserRemotes(at(blocked))).toThrow(expect.objectContaining({ code: 'io' }));
    // The temporary file beside it would have too long a name.
    const path = sandbox.path('c'.repeat(240));
    expect(() => writeUserRemotes(at(path), {})).toThrow(
      expect.objectContaining({ code: 'io', data: { path } }),
    );
  });
});
