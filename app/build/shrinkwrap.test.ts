import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type LockFile, runtimeLock } from './shrinkwrap.ts';

const read = (name: string) => JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'));

describe('The lock file of the package', () => {
  it('lists only runtime packages, each with one version and one checksum', () => {
    const { packages } = runtimeLock(read('package-lock.json') as LockFile);
    const { '': own, ...others } = packages;
    expect(own?.dependencies).toEqual(read('package.json').dependencies);
    expect(own?.devDependencies).toBeUndefined();
    const names = Object.keys(others).map((path) => path.replace(/.*node_modules\//, ''));
    const [binaries, rest] = [true, false].map((isBinary) =>
      names.filter((name) => name.startsWith('@koromix/') === isBinary),
    );
    expect(rest!.sort()).toEqual(['better-sqlite3', 'koffi', 'node-addon-api']);
    expect(binaries!.length).toBeGreaterThan(10);
    for (const entry of Object.values(others)) {
      expect(entry.version).toMatch(/^\d+\.\d+\.\d+$/);
      expect(entry.integrity).toMatch(/^sha512-/);
      expect(entry.dev).toBeUndefined();
    }
  });

  const withDependency = (wanted: string): LockFile => ({
    name: 'a',
    version: '1.0.0',
    lockfileVersion: 3,
    packages: {
      '': { dependencies: { b: wanted } },
      'node_modules/b': { version: '1.2.3', integrity: 'sha512-b', resolved: 'https://registry.example/b' },
      'node_modules/c': { version: '4.5.6', dev: true },
    },
  });

  it('names no registry and no development package', () => {
    const { '': _, ...others } = runtimeLock(withDependency('1.2.3')).packages;
    expect(others).toEqual({ 'node_modules/b': { version: '1.2.3', integrity: 'sha512-b' } });
  });

  it.each(['^1.2.3', '~1.2.3', '1.2.4', '*', 'latest'])(
    'is not written while package.json asks for %s',
    (wanted) => expect(() => runtimeLock(withDependency(wanted))).toThrow(/name the version/),
  );
});
