/** Finds exports that no other file uses. */
import { posix } from 'node:path';
import { findImports } from './import-scan.ts';

export interface UnusedExport {
  readonly file: string;
  readonly line: number;
  readonly what: string;
}

interface ExportedName {
  readonly name: string;
  readonly isType: boolean;
  readonly line: number;
}

const EXPORT =
  /^export (?:declare )?(?:async )?(?:(?:const|let|function\*?|class) (?<value>\w+)|(?:interface|type) (?<type>\w+))/gm;

/**
 * An export is used when a file that imports its file has its name. A type also counts as used when its own
 * file has its name twice: it is then part of what another export takes or returns.
 * @param sources Path (relative to the project, with `/`) to content.
 */
export function findUnusedExports(sources: ReadonlyMap<string, string>): UnusedExport[] {
  const importers = importersOf(sources);
  const unused: UnusedExport[] = [];
  for (const [file, source] of sources) {
    if (/\.(test|bench)\.ts$/.test(file)) continue;
    for (const { isType, line, name } of exportsOf(source)) {
      const word = new RegExp(`\\b${name}\\b`, 'g');
      if (isType && (source.match(word)?.length ?? 0) > 1) continue;
      if ((importers.get(file) ?? []).some((importer) => importer.search(word) >= 0)) continue;
      unused.push({ file, line, what: `exports ${name}, which no other file uses` });
    }
  }
  return unused;
}

/** The declarations that a file exports. */
export function exportsOf(source: string): ExportedName[] {
  return [...source.matchAll(EXPORT)].map(({ groups: { value, type = '' } = {}, index }) => ({
    name: value ?? type,
    isType: value === undefined,
    line: source.slice(0, index).split('\n').length,
  }));
}

/** File to the contents of those that import it. */
function importersOf(sources: ReadonlyMap<string, string>): ReadonlyMap<string, readonly string[]> {
  const importers = new Map<string, string[]>();
  for (const [file, source] of sources) {
    for (const { specifier } of findImports(source)) {
      if (!specifier.startsWith('.')) continue;
      const to = posix.join(posix.dirname(file), specifier);
      const known = importers.get(to);
      if (known) known.push(source);
      else importers.set(to, [source]);
    }
  }
  return importers;
}
