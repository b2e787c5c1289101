/** A tree of tables, JSON and binary files, and its later versions. Equal in each run. */
import { createCipheriv } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createTextLines } from '../data/text-lines.ts';

export const FILES = 1_500;
/** Of the first files: so many change, are new and go with each version. */
const CHANGED = 30;
const NEW = 15;
const REMOVED = 6;
/** One file in 100 is large. */
const LARGE_EVERY = 100;
const LARGE_BYTES = 2_000_000;

export interface Versions {
  /** The next version, in this folder. */
  writeNext(folder: string): void;
}

export function createVersions(): Versions {
  const lines = createTextLines(23);
  const noise = createCipheriv('aes-128-ctr', Buffer.alloc(16, 1), Buffer.alloc(16));
  const living: number[] = [];
  let next = 0;
  const textOf = (index: number, bytes: number) => {
    const each = index % 3 === 0 ? lines.row : lines.record;
    const parts: string[] = [];
    for (let size = 0, at = index; size < bytes; at += 1) {
      const part = each(at);
      parts.push(part);
      size += part.length;
    }
    return Buffer.from(parts.join(''));
  };
  const contentOf = (index: number) => {
    // Many are small.
    const bytes =
      index % LARGE_EVERY === 7 ? LARGE_BYTES : 500 + Math.floor(80_000 * (lines.whole(1_000) / 1_000) ** 3);
    return index % 3 === 2 ? noise.update(Buffer.alloc(bytes)) : textOf(index, bytes);
  };
  const add = (folder: string) => {
    const path = join(folder, pathOf(next));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, contentOf(next));
    living.push(next);
    next += 1;
  };
  /** A table grows, a record in the middle changes, a binary file is a new one. */
  const change = (folder: string) => {
    const index = living[lines.whole(living.length)]!;
    const path = join(folder, pathOf(index));
    if (index % 3 === 0) appendFileSync(path, textOf(index, 300));
    else if (index % 3 === 2) writeFileSync(path, contentOf(index));
    else {
      const bytes = readFileSync(path);
      bytes.fill('x', bytes.length >> 1, (bytes.length >> 1) + 8);
      writeFileSync(path, bytes);
    }
  };
  return {
    writeNext: (folder) => {
      if (next === 0) {
        while (next < FILES) add(folder);
        return;
      }
      for (let count = 0; count < CHANGED; count += 1) change(folder);
      for (let count = 0; count < NEW; count += 1) add(folder);
      for (let count = 0; count < REMOVED; count += 1) {
        const [index] = living.splice(lines.whole(living.length), 1);
        rmSync(join(folder, pathOf(index!)));
      }
    },
  };
}

function pathOf(index: number): string {
  return `d${index % 40}/${index}.${['csv', 'json', 'bin'][index % 3]}`;
}
