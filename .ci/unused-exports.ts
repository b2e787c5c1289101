/** Finds exports that no other file uses. */
import { posix } from 'node:path';
import { findImports } from './import-scan.ts';

export interface UnusedExport {
  readonly file: string;
  readonly line: number;
  readonly what: string;
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
    for (const match of source.matchAll(EXPORT)) {
      const { value, type } = match.groups ?? {};
      const name = new RegExp(`\\b${value ?? type}\\b`, 'g');
      if (type !== undefined && (source.match(name)?.length ?? 0) > 1) continue;
      if ((importers.get(file) ?? []).some((importer) => importer.search(name) >= 0)) continue;
      const line = source.slice(0, match.index).split('\n').length;
      unused.push({ file, line, what: `exports ${value ?? type}, which no other file uses` });
    }
  }
  return unused;
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
