/** A writer that is killed in the middle of its work, as by `kill -9`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, describe, expect, it } from 'vitest';
import { openTreeWriter } from './tree-writer.ts';

const root = mkdtempSync(`${tmpdir()}/dray-kill-`);
afterAll(() => rmSync(root, { recursive: true }));

/** Only half of them are written, so that none is left to be written before the kill. */
const FILES = 60_000;
const SCRIPT = `
import { createHash } from 'node:crypto';
import { openTreeWriter } from ${JSON.stringify(new URL('./tree-writer.ts', import.meta.url).href)};
const root = ${JSON.stringify(root)};
const writer = openTreeWriter({ root, temporaryFolder: root + '/.dray/tmp', threads: 2, signal: new AbortController().signal });
const meta = { mtimeNs: 1n, executable: false };
const contents = Array.from({ length: ${FILES} }, (_, at) => String(at).padStart(1000, '0'));
const items = contents.map((content, at) => ({
  ...meta, path: 'd' + (at % 9) + '/' + at, sizeBytes: 1000, offset: at * 1000,
  blob: createHash('sha256').update(content).digest('hex'),
}));
const large = await writer.openLarge({ ...meta, path: 'large', sizeBytes: 1000, blob: items[0].blob });
await large.write(0, Buffer.from(contents[0].slice(0, 500)));
const half = ${FILES / 2};
await writer.writeMany(new Uint8Array(Buffer.from(contents.slice(0, half).join(''))), items.slice(0, half));
// Never ends by itself.
setInterval(() => {}, 1_000_000);
`;

function written(): { parentPath: string; name: string }[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('.dray'))
    .map(({ parentPath, name }) => ({ parentPath, name }));
}

describe('a tree writer that is killed', () => {
  it('leaves only whole files in place, and the next one removes the rest', async () => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', SCRIPT], { stdio: 'ignore' });
    const exit = once(child, 'exit');
    while (child.exitCode === null && written().length === 0)
      await new Promise((resolve) => setTimeout(resolve, 5));
    child.kill('SIGKILL');
    await exit;
    expect(child.signalCode).toBe('SIGKILL');
    const files = written();
    expect(files.length).toBeLessThan(FILES);
    for (const { parentPath, name } of files) {
      expect(readFileSync(`${parentPath}/${name}`, 'utf8')).toBe(name.padStart(1000, '0'));
    }
    expect(readdirSync(`${root}/.dray/tmp`)).not.toEqual([]);
    const next = openTreeWriter({
      root,
      temporaryFolder: `${root}/.dray/tmp`,
      signal: new AbortController().signal,
    });
    expect(readdirSync(`${root}/.dray/tmp`)).toEqual([]);
    await next.close();
  });
});
