/**
 * Each screen and some dialogs are loaded when they are first opened, with the style sheets that their
 * modules import. A part that is also used elsewhere imports its own style sheet, or it has no style there
 * until somebody opens the screen that does.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findImports } from './import-scan.ts';

const ROOT = join(import.meta.dirname, '../renderer');
const MODULES = globSync('**/*.{ts,tsx}', { cwd: ROOT }).map((path) => join(ROOT, path));
const SHEETS = globSync('**/*.css', { cwd: ROOT }).map((path) => join(ROOT, path));

const textOf = memo((path: string) => readFileSync(path, 'utf8'));
/** Type imports load nothing. */
const valuesOf = (source: string) => source.replace(/^(?:import|export) type\b[^;]*;/gm, '');
const DYNAMIC = /import\(\s*'(\.[^']+)'\s*\)/g;

const importsOf = memo((path: string): readonly string[] => {
  if (path.endsWith('.css') || !existsSync(path)) return [];
  const source = valuesOf(textOf(path)).replace(DYNAMIC, '');
  const relatives = findImports(source).filter(({ specifier }) => specifier.startsWith('.'));
  return relatives.map(({ specifier }) => join(dirname(path), specifier));
});

function loadedWith(entry: string): ReadonlySet<string> {
  const loaded = new Set([entry]);
  for (const path of loaded) for (const next of importsOf(path)) loaded.add(next);
  return loaded;
}

/** The classes that rules of a sheet are about, without those that only refine another one. */
const classesOf = memo((sheet: string): ReadonlySet<string> => {
  const rules = textOf(sheet).replace(/\/\*.*?\*\//gs, '');
  return new Set([...rules.matchAll(/\.(-?[a-z][\w-]*)/gi)].map(([, name]) => name!));
});

/** The words in the values of `className`; of expressions, those in their strings. */
const usedClasses = memo((path: string): ReadonlySet<string> => {
  const values = textOf(path).matchAll(/className=(?:"([^"]*)"|\{`([^`]*)`\}|\{([^}]*)\})/g);
  const words = [...values].flatMap(([, plain, template, expression = '']) => {
    const text = plain ?? template ?? [...expression.matchAll(/'([^']*)'/g)].map(([, one]) => one).join(' ');
    return text.split(/[^\w-]+/);
  });
  return new Set(words.filter((word) => word.includes('-')));
});

const MAIN = loadedWith(join(ROOT, 'main.tsx'));
const LAZY = [...new Set(MODULES.flatMap((path) => lazyOf(path)))].sort();

function lazyOf(path: string): readonly string[] {
  return [...textOf(path).matchAll(DYNAMIC)].map(([, specifier]) => join(dirname(path), specifier!));
}

describe('the styles of what is loaded later', () => {
  it.each(LAZY.map((path) => relative(ROOT, path)))('%s come with it', (entry) => {
    const own = loadedWith(join(ROOT, entry));
    const isLoaded = (path: string) => own.has(path) || MAIN.has(path);
    const missing = [...own]
      .filter((path) => path.endsWith('.tsx') && !MAIN.has(path))
      .flatMap((path) =>
        [...usedClasses(path)].flatMap((name) => {
          const sheets = SHEETS.filter((sheet) => classesOf(sheet).has(name));
          const isFound = sheets.length === 0 || sheets.some(isLoaded);
          return isFound ? [] : [`${relative(ROOT, path)}: .${name} of ${relative(ROOT, sheets[0]!)}`];
        }),
      );
    expect(missing).toEqual([]);
  });

  it('are found: the screens are among what is loaded later', () => {
    expect(LAZY.length).toBeGreaterThan(10);
    expect(LAZY).toContain(join(ROOT, 'screens/history.tsx'));
  });
});

function memo<T>(act: (path: string) => T): (path: string) => T {
  const known = new Map<string, T>();
  return (path) => {
    if (!known.has(path)) known.set(path, act(path));
    return known.get(path)!;
  };
}
