/** FORMAT.md says what the code does: its example runs, and gives the bytes that the document shows. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const example = readFileSync(new URL('FORMAT.md', import.meta.url), 'utf8').split(
  '## An example, to the byte',
)[1]!;

it('prints the pack, the commit and the cuts that the example shows', () => {
  const blocks = [...example.matchAll(/^```\w*\n(.*?)^```$/gms)].map(([, block]) => block!);
  const [script, pack, commit] = blocks;
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
