/** FORMAT.md says what the code does: its example runs, and gives the bytes that the document shows. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { decompressBlob } from '../compression/zstd-blob.ts';
import type { FileEntry, PackHash } from '../model/entry.ts';
import { entryToText, parseEntry } from './manifest/entry-text.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const [, example = '', compressed = ''] = readFileSync(new URL('FORMAT.md', import.meta.url), 'utf8').split(
  /^## (?:An example|A compressed blob), to the byte$/m,
);
const blocksIn = (section: string) =>
  [...section.matchAll(/^```\w*\n(.*?)^```$/gms)].map(([, block]) => block!);

it('prints the pack, the commit and the cuts that the example shows', () => {
  const [script, pack, commit] = blocksIn(example);
  const [, program] = /^node --input-type=module <<'E'\n(.*)^E\n$/ms.exec(script!)!;
  const run = spawnSync(process.execPath, ['--input-type=module'], {
    cwd: ROOT,
    encoding: 'utf8',
    input: program,
  });
  expect(run.stderr).toBe('');

  const key = /`commits\/(\w\w)\/(\w+)`/.exec(example)!;
  const cuts = /cuts at ([\d,\s]+)\./m.exec(example)![1]!.split(/,\s+/);
  const text = commit!.replace(/\n(?="totals"|"entries")/g, '');
  const expected = [`${pack}commit ${key[1]}${key[2]}`, text, ...cuts.map((cut) => `cut ${cut}`), ''];
  expect(run.stdout).toBe(expected.join('\n'));
});

it('reads the compressed blob that the document shows, and its entry', () => {
  const [hex, line] = blocksIn(compressed);
  const frame = Buffer.from(hex!.trim(), 'hex');
  const content = decompressBlob(frame, 1_024)!;
  expect(Buffer.from(content).toString()).toBe('0123456789abcdef'.repeat(64));
  const entry = parseEntry('manifests/x', JSON.parse(line!), []) as FileEntry;
  expect(entry.blob).toBe(createHash('sha256').update(content).digest('hex'));
  expect(entry.location).toEqual({ in: 'object', storedBytes: frame.length });
  const pack = 'ab'.repeat(32) as PackHash;
  expect(`${entryToText(entry, () => 0)}\n`).toBe(line);
  const packed: FileEntry = { ...entry, location: { in: 'pack', pack, offset: 12, storedBytes: 33 } };
  const end = /`("encoding":"zstd","pack".*?\})`/.exec(compressed)![1]!;
  expect(entryToText(packed, () => 0).endsWith(end)).toBe(true);
});
