/**
 * A disk that is really full: a small tmpfs in its own namespace, which needs a Linux that lets users create
 * one.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, describe, expect, it } from 'vitest';

const folder = mkdtempSync(`${tmpdir()}/dray-full-`);
afterAll(() => rmSync(folder, { recursive: true }));

const MOUNT = `mount -t tmpfs -o size=4m none ${folder}`;
const canMount = spawnSync('unshare', ['-rm', 'sh', '-c', MOUNT]).status === 0;

const SCRIPT = `
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { openTreeWriter } from ${JSON.stringify(new URL('./tree-writer.ts', import.meta.url).href)};
const root = ${JSON.stringify(folder)};
const open = (threads) => openTreeWriter({ root, temporaryFolder: root + '/.dray/tmp', threads, signal: new AbortController().signal });
const meta = (path, bytes) => ({ path, sizeBytes: bytes.length, mtimeNs: 1n, executable: false, blob: createHash('sha256').update(bytes).digest('hex') });
const codeOf = (promise) => promise.then(() => 'ok', (error) => error.code + ' ' + error.data.path);
writeFileSync(root + '/small', 'old');
writeFileSync(root + '/large', 'old');
const seen = {};
for (const threads of [0, 2]) {
  const writer = open(threads);
  const bytes = new Uint8Array(6 * 1024 * 1024).fill(7);
  const results = await writer.writeMany(bytes.slice(), [{ ...meta('small', bytes), offset: 0 }]);
  const large = await writer.openLarge({ ...meta('large', bytes), sizeBytes: 20 * 1024 * 1024 });
  const piece = await codeOf(large.write(0, bytes.slice()));
  await large.discard();
  const streamed = await writer.openLarge(meta('large', bytes));
  const stream = await codeOf(streamed.writeStream((async function* () { yield bytes; })()));
  await streamed.discard();
  await writer.close();
  seen[threads] = { many: results[0].error?.code + ' ' + results[0].error?.data.path, piece, stream, left: readdirSync(root + '/.dray/tmp') };
}
console.log(JSON.stringify({ seen, small: readFileSync(root + '/small', 'utf8'), large: readFileSync(root + '/large', 'utf8') }));
`;

describe('tree writer on a full disk', () => {
  it.skipIf(!canMount)(
    'is reported; the old files stay and no temporary file remains (needs unshare and tmpfs)',
    () => {
      const command = `${MOUNT} && exec "$0" --input-type=module -e "$1"`;
      const { stdout, stderr } = spawnSync(
        'unshare',
        ['-rm', 'sh', '-c', command, process.execPath, SCRIPT],
        {
          encoding: 'utf8',
        },
      );
      expect(stderr).toBe('');
      const full = { many: 'diskFull small', piece: 'diskFull large', stream: 'diskFull large', left: [] };
      expect(JSON.parse(stdout)).toEqual({ seen: { 0: full, 2: full }, small: 'old', large: 'old' });
    },
  );
});
