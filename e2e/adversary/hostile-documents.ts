/**
 * Documents of a repository with hostile changes. Each stays under its right name, so only the change is
 * wrong.
 */
import { createHash } from 'node:crypto';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { Draw } from '../seeded-draw.ts';

export type Objects = Map<string, Buffer>;
type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** Changes one document, or the bytes of one object. @param target A folder that the changes point at. */
export function changeRepository(draw: Draw, objects: Objects, target: string): string {
  const keys = [...objects.keys()];
  const commits = keys.filter((key) => key.startsWith('commits/'));
  switch (draw.below(10)) {
    case 0: {
      const key = draw.of(keys);
      objects.set(key, changeBytes(draw, objects.get(key)!));
      return `bytes of ${key}`;
    }
    case 1: {
      const key = draw.of(['dray.json', 'refs/heads/main']);
      objects.set(key, Buffer.from(changeText(draw, objects.get(key)?.toString() ?? '', target)));
      return key;
    }
    case 2:
      objects.delete(draw.of(keys));
      return 'removed';
    case 3: {
      // Stores another document's content under this name.
      const key = draw.of(keys);
      objects.set(key, objects.get(draw.of(keys))!);
      return `swapped ${key}`;
    }
    default: {
      const key = tipKey(objects) ?? draw.of(commits);
      const stored = objects.get(key);
      if (!stored) return 'nothing';
      const text = textOf(stored);
      const changed = draw.chance(60) ? addEntries(draw, text, target) : changeText(draw, text, target);
      const hash = put(objects, 'commits', changed);
      const ref = objects.get('refs/heads/main')?.toString() ?? '';
      objects.set('refs/heads/main', Buffer.from(ref.replace(/"commit":"[0-9a-f]+"/, `"commit":"${hash}"`)));
      return 'commit';
    }
  }
}

function tipKey(objects: Objects): string | undefined {
  const hash = /"commit":"([0-9a-f]{64})"/.exec(objects.get('refs/heads/main')?.toString() ?? '')?.[1];
  const key = hash && `commits/${hash.slice(0, 2)}/${hash.slice(2)}`;
  return key && objects.has(key) ? key : undefined;
}

function textOf(stored: Buffer): string {
  try {
    return zstdDecompressSync(stored).toString();
  } catch {
    // An earlier change replaced it.
    return '';
  }
}

function put(objects: Objects, folder: string, text: string): string {
  const raw = Buffer.from(text);
  const hash = createHash('sha256').update(raw).digest('hex');
  objects.set(`${folder}/${hash.slice(0, 2)}/${hash.slice(2)}`, zstdCompressSync(raw));
  return hash;
}

function changeBytes(draw: Draw, bytes: Buffer): Buffer {
  const changed = Buffer.from(bytes);
  const at = draw.below(Math.max(1, bytes.length));
  if (draw.chance(50) && bytes.length > 0) {
    changed[at] = draw.below(256);
    return changed;
  }
  return draw.chance(50) ? changed.subarray(0, at) : Buffer.concat([changed, draw.noise(draw.below(300))]);
}

/**
 * Replaces some value, name or place in the document, or, rarely, the whole document by text that is not
 * JSON.
 */
function changeText(draw: Draw, text: string, target: string): string {
  if (draw.chance(10))
    return draw.of([
      `${text}}`,
      text.slice(0, -2),
      '',
      '[',
      '[['.repeat(50_000),
      'null',
      '7',
      `${text}${text}`,
    ]);
  const document = parse(text);
  const holders: { holder: Json[] | { [name: string]: Json }; name: string }[] = [];
  const walk = (value: Json) => {
    if (typeof value !== 'object' || value === null) return;
    for (const name of Object.keys(value)) {
      holders.push({ holder: value as { [name: string]: Json }, name });
      walk((value as { [name: string]: Json })[name]!);
    }
  };
  walk(document);
  if (holders.length === 0) return `${text} `;
  for (let changes = 1 + draw.below(2); changes > 0; changes -= 1) {
    const { holder, name } = draw.of(holders);
    const fields = holder as { [name: string]: Json };
    const other = draw.of(holders);
    switch (draw.below(4)) {
      case 0:
        fields[name] = hostileValue(draw, target);
        break;
      case 1:
        delete fields[name];
        break;
      case 2:
        fields[draw.of(['encoding', 'required', 'link', 'size', 'chunks', 'pack'])] = hostileValue(
          draw,
          target,
        );
        break;
      default:
        fields[name] = structuredClone((other.holder as { [name: string]: Json })[other.name] ?? null);
    }
  }
  return JSON.stringify(document);
}

/** Returns null when an earlier change left invalid JSON. */
function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}

function hostileValue(draw: Draw, target: string): Json {
  return draw.of<() => Json>([
    ...[null, true, 0, -1, 1.5, 1e308, Number.MAX_SAFE_INTEGER, '', '0', '../x', '/', '.dray'].map(
      (value) => () => value,
    ),
    ...['\0', '\u202e', '\x85\x9b2J\n', '0'.repeat(64), 'f'.repeat(64), '9'.repeat(400), '\ud800'].map(
      (value) => () => value,
    ),
    () => target,
    () => 'x'.repeat(100_000),
    () => deep(2_000),
    () => [],
    () => ({}),
    () => [[0, 1, 2], { a: 'b' }, 'c'],
    () => Array.from({ length: 3_000 }, () => []),
    () => ['encryption', 'x'.repeat(5_000)],
  ])();
}

function deep(levels: number): Json {
  let value: Json = 1;
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

interface Totals {
  files: number;
  links: number;
  folders: number;
  bytes: number;
}

/**
 * Adds entries in order, with matching totals: links that lead out, and files whose paths go through them.
 */
function addEntries(draw: Draw, text: string, target: string): string {
  const commit = parse(text) as { manifest?: { entries: Record<string, Json>[] }; totals?: Totals } | null;
  const { manifest, totals } = commit ?? {};
  if (!manifest || !Array.isArray(manifest.entries) || typeof totals?.files !== 'number')
    return changeText(draw, text, target);
  const model = manifest.entries.find((entry) => entry?.size !== undefined && entry.size !== 0);
  const size = typeof model?.size === 'number' ? model.size : 0;
  const path = () => draw.of(PATHS)(target, draw);
  for (let added = 1 + draw.below(4); added > 0; added -= 1) {
    if (draw.chance(40) || !model) {
      manifest.entries.push({
        path: path(),
        link: draw.of([target, `${target}/sub`, '..', '../outside', '/', 'gate', 'x'.repeat(4_000)]),
      });
      totals.links += 1;
    } else {
      manifest.entries.push({ ...structuredClone(model), path: path() });
      totals.files += 1;
      totals.bytes += size;
    }
  }
  if (draw.chance(85))
    manifest.entries.sort((left, right) =>
      Buffer.compare(Buffer.from(String(left?.path)), Buffer.from(String(right?.path))),
    );
  return JSON.stringify(commit);
}

const PATHS: readonly ((target: string, draw: Draw) => string)[] = [
  ...[
    'gate',
    'gate/secret',
    'gate/sub/secret',
    'GATE/secret',
    'd',
    'd/1/x',
    'D/1',
    'e/gate',
    'e/gate/secret',
  ].map((path) => () => path),
  ...[
    '../outside/secret',
    '/etc/x',
    'a/../../x',
    'a//b',
    './a',
    '.dray/config.json',
    '.DRAY/config.json',
    'x/.dray/config.json',
  ].map((path) => () => path),
  ...[
    '.d\u200cray/config.json',
    'a\0b',
    'n'.repeat(300),
    `${'p/'.repeat(2_100)}p`,
    '\u202egpj',
    '\x9b2J\n',
    'con',
    'a:b',
    '\ud800',
  ].map((path) => () => path),
  (target) => `${target}/secret`,
  (_target, draw) => `r/${draw.below(1_000)}`,
];
