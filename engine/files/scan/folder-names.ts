/** A folder's names in byte order, and its names that are not UTF-8. */
import { readdirSync } from 'node:fs';
import { comparePaths } from '../../model/entry.ts';

export interface FolderNames {
  /** Sorted by their UTF-8 bytes. */
  readonly names: readonly string[];
  /** Names that are not UTF-8, readable: each byte that does not decode as `\xNN`. */
  readonly notUtf8: readonly string[];
}

const REPLACEMENT = '\ufffd';
/**
 * The replacement character may stand for undecodable bytes; surrogates sort differently from their bytes.
 */
const NEEDS_CARE = /[\ud800-\udfff\ufffd]/;
const NONE: readonly string[] = [];

/** @throws the errors of `readdirSync`. */
export function readFolderNames(path: string): FolderNames {
  const names = readdirSync(path);
  let isSorted = true;
  let before = '';
  for (const name of names) {
    if (NEEDS_CARE.test(name)) return readWithCare(path, names);
    if (name < before) isSorted = false;
    before = name;
  }
  if (!isSorted) names.sort();
  return { names, notUtf8: NONE };
}

function readWithCare(path: string, names: string[]): FolderNames {
  if (!names.some((name) => name.includes(REPLACEMENT))) {
    return { names: names.sort(comparePaths), notUtf8: NONE };
  }
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const good: string[] = [];
  const bad: string[] = [];
  for (const bytes of readdirSync(path, { encoding: 'buffer' })) {
    try {
      good.push(decoder.decode(bytes));
    } catch {
      bad.push(readableName(bytes));
    }
  }
  return { names: good.sort(comparePaths), notUtf8: bad.sort() };
}

function readableName(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) {
    const isPlain = byte >= 0x20 && byte < 0x7f;
    text += isPlain ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`;
  }
  return text;
}
