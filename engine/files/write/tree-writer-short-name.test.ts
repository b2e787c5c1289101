/**
 * `.dray` under a short name, as on FAT and NTFS: here it is mounted under that name, in its own namespace.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, describe, expect, it } from 'vitest';

const folder = mkdtempSync(`${tmpdir()}/dray-short-`);
afterAll(() => rmSync(folder, { recursive: true }));

for (const path of ['.dray', 'DRAY~1', 'sub/.dray', 'sub/dray', 'free/DRAY~1', 'free/.dray'])
  mkdirSync(`${folder}/${path}`, { recursive: true });
for (const path of ['.dray', 'sub/.dray', 'free/.dray'])
  writeFileSync(`${folder}/${path}/config.json`, 'own');

const MOUNT = [
  `mount --bind ${folder}/.dray ${folder}/DRAY~1`,
  `mount --bind ${folder}/sub/.dray ${folder}/sub/dray`,
].join(' && ');
const canMount = spawnSync('unshare', ['-rm', 'sh', '-c', MOUNT]).status === 0;

const SCRIPT = `
import { readFileSync } from 'node:fs';
import { openTreeWriter } from ${JSON.stringify(new URL('./tree-writer.ts', import.meta.url).href)};
const root = ${JSON.stringify(folder)};
const writer = openTreeWriter({ root, temporaryFolder: root + '/.dray/tmp', threads: 0, signal: new AbortController().signal });
const codeOf = (work) => { try { work(); return 'ok'; } catch (error) { return error.code; } };
const seen = {};
for (const at of ['DRAY~1', 'sub/dray', 'free/DRAY~1']) {
  const path = at + '/config.json';
  const [written] = await writer.writeMany(new Uint8Array([1]), [{ path, sizeBytes: 1, mtimeNs: 1n, executable: false, offset: 0 }]);
  seen[at] = [
    written.error?.code ?? 'ok',
    codeOf(() => writer.writeLink(at + '/x', 'y')),
    codeOf(() => writer.makeFolder(at + '/below/')),
    codeOf(() => writer.remove(path)),
  ];
}
await writer.close();
const own = ['.dray', 'sub/.dray', 'free/.dray'].map((at) => readFileSync(root + '/' + at + '/config.json', 'utf8'));
console.log(JSON.stringify({ seen, own }));
`;

describe('a tree writer where .dray also has a short name', () => {
  it.skipIf(!canMount)(
    'changes nothing in it by that name, and uses another folder with such a name (needs unshare and ' +
      'bind mounts)',
    () => {
      const command = `${MOUNT} && exec "$0" --input-type=module -e "$1"`;
      const { stderr, stdout } = spawnSync(
        'unshare',
        ['-rm', 'sh', '-c', command, process.execPath, SCRIPT],
        { encoding: 'utf8' },
      );
      expect(stderr).toBe('');
      const refused = ['unsafePath', 'unsafePath', 'unsafePath', 'unsafePath'];
      expect(JSON.parse(stdout)).toEqual({
        seen: { 'DRAY~1': refused, 'sub/dray': refused, 'free/DRAY~1': ['ok', 'ok', 'ok', 'ok'] },
        own: ['own', 'own', 'own'],
      });
    },
  );
});
