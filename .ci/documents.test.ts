/**
 * The documents stay true to the project: each source file that they name exists, and each link leads
 * somewhere.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const toPosix = (path: string) => path.replaceAll('\\', '/');
const DOCUMENTS = globSync(['*.md', '{.github,app,bench,e2e,engine,renderer}/**/*.md'], {
  cwd: ROOT,
}).map(toPosix);
const SOURCES = globSync('{.ci,app,bench,e2e,engine,renderer}/**/*.{ts,tsx}', { cwd: ROOT }).map(toPosix);

/**
 * Names are relative to the document's folder or to the project; a name without a folder lies somewhere below
 * the document.
 */
function isThere(document: string, name: string): boolean {
  const folder = posix.dirname(document);
  if (existsSync(ROOT + posix.join(folder, name)) || existsSync(ROOT + posix.normalize(name))) return true;
  if (name.includes('*')) return SOURCES.some((source) => posix.matchesGlob(source, `**/${name}`));
  return SOURCES.some((source) => source.startsWith(`${folder}/`) && source.endsWith(`/${name}`));
}

describe.each(DOCUMENTS)('%s', (document) => {
  const text = readFileSync(ROOT + document, 'utf8');

  it('names source files that exist', () => {
    const names = text.match(/[\w.*/-]+\.tsx?\b/g) ?? [];
    expect(names.filter((name) => !isThere(document, name))).toEqual([]);
  });

  it('names folders that exist', () => {
    const names = [...text.matchAll(/`((?:[\w-]+|\.\.|\.ci)\/(?:[\w-]+\/)+)`/g)].map(([, name]) => name!);
    expect(names.filter((name) => !isThere(document, name))).toEqual([]);
  });
});

it.each(DOCUMENTS.filter((document) => document !== 'bench/RESULTS.md'))(
  '%s has lines of 110 columns at most, but for tables and code',
  (document) => {
    const prose = readFileSync(ROOT + document, 'utf8').replace(/^ *```[\s\S]*?^ *```/gm, '');
    const lines = prose.split('\n').filter((line) => line.length > 110 && !line.startsWith('|'));
    expect(lines).toEqual([]);
  },
);

/** Without code, in which brackets are no links. */
function readProse(document: string): string {
  const text = readFileSync(ROOT + document, 'utf8').replace(/^```[\s\S]*?^```/gm, '');
  return text.replace(/`[^`\n]*`/g, (code) => code.replace(/[[\]()]/g, ''));
}

/** The targets of links and images: inline, by reference, and as HTML. */
function findLinks(prose: string): string[] {
  const forms = [/\]\(<?([^)\s>]+)>?(?: "[^"]*")?\)/g, /^\[[^\]]+\]: (\S+)/gm, /\b(?:href|src)="([^"]+)"/g];
  return forms.flatMap((form) => [...prose.matchAll(form)].map(([, target]) => target!));
}

/** As GitHub makes them from headings: of two headings with one text, the second gets `-1`. */
function findAnchors(prose: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, title] of prose.matchAll(/^#+ (.*)$/gm)) {
    const words = title!.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const slug = words.replace(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-');
    let anchor = slug;
    for (let count = 1; anchors.has(anchor); count += 1) anchor = `${slug}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}

function leadsSomewhere(document: string, link: string): boolean {
  const [file = '', anchor] = link.split('#');
  const target = file === '' ? document : posix.join(posix.dirname(document), file);
  if (target.startsWith('..') || !existsSync(ROOT + target)) return false;
  return anchor === undefined || findAnchors(readProse(target)).has(anchor);
}

describe.each(DOCUMENTS)('%s', (document) => {
  it('has no relative link that leads nowhere', () => {
    const links = findLinks(readProse(document)).filter((link) => !/^[a-z]+:/.test(link));
    expect(links.filter((link) => !leadsSomewhere(document, link))).toEqual([]);
  });
});

describe.each(DOCUMENTS)('the commands in %s', (document) => {
  const text = readFileSync(ROOT + document, 'utf8');

  it('test files that exist, by words of their tests', () => {
    const runs = text.matchAll(
      /(?:vitest run --config \S+|npm (?:run )?test(?::long)? --) ([\w./-]+)(?: -t '([^']+)')?/g,
    );
    const wrong = [...runs].filter(([, path, words]) => {
      const files = SOURCES.filter((source) => source.startsWith(path!) && source.endsWith('.test.ts'));
      return !files.some((file) => !words || readFileSync(ROOT + file, 'utf8').includes(words));
    });
    expect(wrong.map(([command]) => command)).toEqual([]);
  });

  it('install the versions of packages that the tests use', () => {
    const { devDependencies } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
    const installs = text.match(/^ *npm install .*$/gm) ?? [];
    const named = installs.flatMap((line) => line.match(/@[\w-]+\/[\w-]+@\S+/g) ?? []);
    const used = (name: string) => `${name}@${devDependencies[name]}`;
    expect(named).toEqual(named.map((text) => used(text.slice(0, text.lastIndexOf('@')))));
  });
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
