/** The documents beside the code stay true to its folders: each source file that they name exists. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const toPosix = (path: string) => path.replaceAll('\\', '/');
const DOCUMENTS = globSync(['engine/**/*.md', 'bench/README.md', '.github/*.md'], { cwd: ROOT }).map(toPosix);
const SOURCES = globSync('{.ci,app,bench,e2e,engine,renderer}/**/*.{ts,tsx}', { cwd: ROOT }).map(toPosix);

/** Names are relative to the document's folder or to the project; a name without a folder lies somewhere below the document. */
function isThere(document: string, name: string): boolean {
  const folder = posix.dirname(document);
  if (existsSync(ROOT + posix.join(folder, name)) || existsSync(ROOT + posix.normalize(name))) return true;
  return SOURCES.some((source) => source.startsWith(`${folder}/`) && source.endsWith(`/${name}`));
}

describe.each(DOCUMENTS)('%s', (document) => {
  const text = readFileSync(ROOT + document, 'utf8');

  it('names source files that exist', () => {
    const names = text.match(/[\w./-]+\.tsx?\b/g) ?? [];
    expect(names.filter((name) => !isThere(document, name))).toEqual([]);
  });

  it('names folders that exist', () => {
    const names = [...text.matchAll(/`((?:[\w-]+|\.\.|\.ci)\/(?:[\w-]+\/)+)`/g)].map(([, name]) => name!);
    expect(names.filter((name) => !isThere(document, name))).toEqual([]);
  });
});

it.each(DOCUMENTS)('%s has lines of 110 columns at most, but for tables and code', (document) => {
  const prose = readFileSync(ROOT + document, 'utf8').replace(/^ *```[\s\S]*?^ *```/gm, '');
  const lines = prose.split('\n').filter((line) => line.length > 110 && !line.startsWith('|'));
  expect(lines).toEqual([]);
});

it('comments name documents that exist', () => {
  const named = SOURCES.flatMap((source) => [
    ...(readFileSync(ROOT + source, 'utf8').match(/\b(?:app|bench|engine)\/[\w./-]+\.md\b/g) ?? []),
  ]);
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((name) => !existsSync(ROOT + name))).toEqual([]);
});

it('the architecture is read in one sitting', () => {
  expect(readFileSync(`${ROOT}engine/ARCHITECTURE.md`, 'utf8').split('\n').length).toBeLessThanOrEqual(300);
});
