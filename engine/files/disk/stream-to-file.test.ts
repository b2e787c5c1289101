import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeStreamToFile } from './stream-to-file.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dray-stream-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const signal = new AbortController().signal;

async function* pieces(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

describe('a stream that becomes a file', () => {
  it('replaces what was there, and leaves nothing else', async () => {
    writeFileSync(join(folder, 'a'), 'old and longer');
    expect(await writeStreamToFile(pieces('one ', 'two'), join(folder, 'a'), signal)).toBe(7);
    expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('one two');
    expect(readdirSync(folder)).toEqual(['a']);
  });

  it('that breaks off leaves what was there', async () => {
    writeFileSync(join(folder, 'a'), 'old');
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('new');
      throw new Error('The pipe broke.');
    }
    await expect(writeStreamToFile(broken(), join(folder, 'a'), signal)).rejects.toMatchObject({
      code: 'io',
    });
    expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('old');
    expect(readdirSync(folder)).toEqual(['a']);
  });

  it('cannot take the place of a folder, and is stopped by the signal', async () => {
    await expect(writeStreamToFile(pieces('x'), folder, signal)).rejects.toMatchObject({ code: 'conflict' });
    await expect(
      writeStreamToFile(pieces('x'), join(folder, 'b'), AbortSignal.abort()),
    ).rejects.toMatchObject({
      code: 'aborted',
    });
    expect(readdirSync(folder)).toEqual([]);
  });
});
