/**
 * `npm ci` refuses a lock file without an entry for a package that another entry names, even an optional one
 * for another system. `npm install` over an existing node_modules can drop such entries.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

interface Entry {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

type Entries = Readonly<Record<string, Entry>>;

/** Each dependency that no entry provides, as `PACKAGE needs NAME`. */
function findMissing(entries: Entries): string[] {
  return Object.entries(entries).flatMap(([path, { dependencies, optionalDependencies }]) =>
    Object.keys({ ...dependencies, ...optionalDependencies })
      .filter((name) => !isProvided(entries, path, name))
      .map((name) => `${path || 'the project'} needs ${name}`),
  );
}

/** Looks in the package's own node_modules, then in those of the folders above it, as Node does. */
function isProvided(entries: Entries, path: string, name: string): boolean {
  if (`${path}${path && '/'}node_modules/${name}` in entries) return true;
  return (
    path !== '' &&
    isProvided(entries, path.slice(0, path.lastIndexOf('node_modules/')).replace(/\/$/, ''), name)
  );
}

const text = readFileSync(fileURLToPath(new URL('../package-lock.json', import.meta.url)), 'utf8');
const { packages }: { readonly packages: Entries } = JSON.parse(text);

it('package-lock.json has an entry for every package that an entry needs, on any system', () => {
  const optional = Object.values(packages).flatMap(({ optionalDependencies = {} }) =>
    Object.keys(optionalDependencies),
  );
  expect(optional.length).toBeGreaterThan(50);
  expect(findMissing(packages)).toEqual([]);
});

it('a missing entry is found at any depth', () => {
  const swc = '@swc/core';
  const name = Object.keys(packages[`node_modules/${swc}`]!.optionalDependencies!).at(-1)!;
  const { [`node_modules/${name}`]: _, ...others } = packages;
  expect(findMissing(others)).toEqual([`node_modules/${swc} needs ${name}`]);
  const nested = {
    'node_modules/a': {},
    'node_modules/a/node_modules/b': { dependencies: { a: '1', c: '1' } },
  };
  expect(findMissing(nested)).toEqual(['node_modules/a/node_modules/b needs c']);
});

it('package-lock.json names no server, so that npm takes the packages from the registry that is set', () => {
  expect(text).not.toMatch(/"resolved"|https?:\/\/[\w.-]*(?:npm|registry)/);
});
