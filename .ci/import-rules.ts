/**
 * Checks the rules of the import graph: layers import one way, vendor packages stay behind one folder, and
 * there are no cycles, no barrel files and no unused exports. Also checks that no name has two meanings, no
 * file has over 500 lines, no comment has over 110 columns, and one module alone writes to the terminal. Test
 * files share a process in which a helper loads once, so helpers register hooks in functions only. Prints
 * each offence as `file:line: what` and exits with 1 when there is one.
 *
 * Written here because dependency-cruiser reads types through a TypeScript below 7, and Biome's
 * noRestrictedImports needs a pattern for each pair of folders.
 */
import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findImports } from './import-scan.ts';
import { findRepeatedNames } from './repeated-names.ts';
import { findTerminalWrites } from './terminal-rule.ts';
import { findUnusedExports } from './unused-exports.ts';

export interface Offence {
  readonly file: string;
  readonly line: number;
  readonly what: string;
}

const LINES_MAX = 500;
/** The formatter breaks code at this width and leaves comments alone. */
const COLUMNS_MAX = 110;

/** The folders that each folder may import besides itself. Folders that are missing here hold no code. */
const MODEL = [
  'engine/api',
  'engine/base',
  'engine/checksums',
  'engine/model',
  'engine/compression',
  'engine/sealing',
];
const MIDDLE = [...MODEL, 'engine/index', 'engine/peer-protocol', 'engine/remotes'];
const PARTS = [
  ...MIDDLE,
  'engine/files',
  'engine/repository',
  'engine/workspace',
  'engine/query',
  'engine/transfer',
];
const ENGINE = [...PARTS, 'engine/peer', 'engine/jobs'];
/** Windows host the engine behind a port. */
const WINDOW = [...ENGINE, 'engine/host'];
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  'engine/api': [],
  'engine/base': ['engine/api'],
  'engine/checksums': ['engine/api', 'engine/base'],
  'engine/model': ['engine/api', 'engine/base'],
  'engine/compression': ['engine/api', 'engine/base', 'engine/model'],
  'engine/sealing': ['engine/api', 'engine/base'],
  'engine/peer-protocol': MODEL,
  'engine/index': MODEL,
  'engine/files': MODEL,
  'engine/remotes': [...MODEL, 'engine/peer-protocol'],
  'engine/repository': MIDDLE,
  'engine/workspace': [...MIDDLE, 'engine/files'],
  'engine/query': MIDDLE,
  'engine/transfer': MIDDLE,
  'engine/peer': PARTS,
  'engine/jobs': [...PARTS, 'engine/peer'],
  'engine/gateway': ENGINE,
  'engine/host': ENGINE,
  renderer: ['engine/api'],
  // Saved jobs run the command. The window's engine loads the link to Temporal.
  'app/desktop': [...WINDOW, 'app/cli', 'app/fleet'],
  // In a clone, `dray ui` builds the window when it is missing or older than its sources.
  'app/web': [...WINDOW, 'app/build'],
  'app/fleet': ENGINE,
  'app/cli': [...ENGINE, 'engine/gateway', 'app/fleet', 'app/web'],
  // The workflows of a fleet are bundled by Temporal's own bundler.
  'app/build': ['app/fleet'],
  'app/quickstart': ['app/build', 'app/cli'],
  'app/library': ENGINE,
  '.ci': ['app/build', 'e2e'],
  bench: [...ENGINE, 'app/cli', 'app/build', 'app/fleet', 'e2e'],
  e2e: [...ENGINE, 'app/cli', 'app/build', 'app/fleet', 'app/library', 'app/web'],
};

/** Packages that only one folder may import. */
const CONFINED: readonly { readonly name: RegExp; readonly to: string }[] = [
  { name: /^electron$/, to: 'app/desktop' },
  { name: /^@aws-sdk\//, to: 'engine/remotes/s3' },
  { name: /^@smithy\//, to: 'engine/remotes/s3' },
  { name: /^@(?:temporalio|opentelemetry)\//, to: 'app/fleet' },
  { name: /^better-sqlite3(\/|$)/, to: 'engine/index' },
  { name: /^commander$/, to: 'app/cli' },
  { name: /^koffi$/, to: 'engine/files/disk' },
  { name: /^ws$/, to: 'app/web' },
];

/** @param sources Contents by path (relative to the project, with `/`). */
export function findOffences(sources: ReadonlyMap<string, string>): Offence[] {
  const offences: Offence[] = [];
  const graph = new Map<string, { readonly to: string; readonly line: number }[]>();
  for (const [file, source] of sources) {
    const lines = source.split('\n').length - 1;
    if (lines > LINES_MAX)
      offences.push({ file, line: LINES_MAX + 1, what: `has ${lines} lines; ${LINES_MAX} are the most` });
    if (isBarrel(source))
      offences.push({ file, line: 1, what: 'only re-exports others: import those by their names' });
    const edges: { to: string; line: number }[] = [];
    for (const { specifier, line, isStarExport } of findImports(source)) {
      const to = specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier) : undefined;
      const what = to === undefined ? refusePackage(file, specifier) : refuseFile(file, to, sources);
      if (what) offences.push({ file, line, what });
      if (isStarExport) offences.push({ file, line, what: 'exports *: name what is exported' });
      if (to !== undefined && sources.has(to)) edges.push({ to, line });
    }
    graph.set(file, edges);
    for (const write of findTerminalWrites(file, source)) offences.push({ file, ...write });
    for (const line of findLongComments(source))
      offences.push({ file, line, what: `has a comment over ${COLUMNS_MAX} columns` });
    if (!isTest(file))
      for (const line of findLines(source, /^(before|after)(Each|All)\(/))
        offences.push({ file, line, what: 'registers a hook when it loads: do it in a function' });
  }
  return [...offences, ...findCycles(graph)];
}

function refusePackage(file: string, specifier: string): string | undefined {
  if (specifier.startsWith('node:')) return undefined;
  const rule = CONFINED.find(({ name }) => name.test(specifier));
  if (!rule || isTest(file) || isWithin(file, rule.to) || isWithin(file, 'bench') || isWithin(file, 'e2e'))
    return undefined;
  return `imports ${specifier}, which belongs to ${rule.to} alone`;
}

function refuseFile(file: string, to: string, sources: ReadonlyMap<string, string>): string | undefined {
  if (/\.ts$/.test(to) && !sources.has(to)) return `imports ${to}, which does not exist`;
  const from = layerOf(file);
  const target = layerOf(to);
  if (from === undefined || target === undefined || from === target) return undefined;
  // Tests may import anything below and beside them, since they do not run in production.
  if (isTest(file) || LAYERS[from]?.includes(target)) return undefined;
  return `imports ${to}: ${from} may not import ${target}`;
}

function layerOf(file: string): string | undefined {
  return Object.keys(LAYERS).find((folder) => isWithin(file, folder));
}

function isWithin(file: string, folder: string): boolean {
  return file.startsWith(`${folder}/`);
}

function isTest(file: string): boolean {
  return /\.(test|bench)\.ts$/.test(file);
}

/** Line numbers. The reason of a `biome-ignore` has to stand on its line. */
function findLongComments(source: string): number[] {
  const comments = findLines(source, /^\s*(\*|\/\/(?! biome-ignore)|\/\*)/);
  const lines = source.split('\n');
  return comments.filter((line) => lines[line - 1]!.length > COLUMNS_MAX);
}

/** Line numbers. */
function findLines(source: string, pattern: RegExp): number[] {
  return source.split('\n').flatMap((line, at) => (pattern.test(line) ? [at + 1] : []));
}

/** True for a file of nothing but re-exports. */
function isBarrel(source: string): boolean {
  const code = source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
  const rest = code.replace(
    /export\s+(?:type\s+)?(?:\*(?:\s+as\s+\w+)?|\{[^}]*\})\s+from\s+['"][^'"]+['"];?/g,
    '',
  );
  return rest.trim() === '' && code.trim() !== '';
}

/** Reports each cycle once, from its first file in alphabetical order. */
function findCycles(
  graph: ReadonlyMap<string, readonly { readonly to: string; readonly line: number }[]>,
): Offence[] {
  const offences: Offence[] = [];
  const done = new Set<string>();
  const open: string[] = [];
  const visit = (file: string) => {
    open.push(file);
    for (const { to, line } of graph.get(file) ?? []) {
      const at = open.indexOf(to);
      if (at >= 0)
        offences.push({ file, line, what: `closes a cycle: ${[...open.slice(at), to].join(' -> ')}` });
      else if (!done.has(to)) visit(to);
    }
    open.pop();
    done.add(file);
  };
  for (const file of [...graph.keys()].sort()) if (!done.has(file)) visit(file);
  return offences;
}

function readSources(root: string): Map<string, string> {
  const folders = ['app/**/*.ts', 'engine/**/*.ts', 'renderer/**/*.{ts,tsx}', 'bench/**/*.ts', 'e2e/**/*.ts'];
  const files = globSync([...folders, '.ci/*.ts'], { cwd: root });
  const names = files.map((file) => file.replaceAll('\\', '/')).sort();
  return new Map(names.map((name) => [name, readFileSync(`${root}${name}`, 'utf8')]));
}

if (import.meta.main) {
  const sources = readSources(fileURLToPath(new URL('..', import.meta.url)));
  const offences = [...findOffences(sources), ...findUnusedExports(sources), ...findRepeatedNames(sources)];
  for (const { file, line, what } of offences) console.error(`${file}:${line}: ${what}`);
  console.log(`import rules: ${sources.size} files, ${offences.length} offences`);
  process.exitCode = offences.length > 0 ? 1 : 0;
}
