/**
 * The advice of each error about damage is run: for each kind of damage and each command that fails because
 * of it, the commands that the message quotes are taken. There is at least one, and none is refused for the
 * same reason.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { commitKeyOf, keysBelow, spoilObject } from '../../engine/jobs/session/damage.fixture.ts';
import { type CliResult, runCli } from './run-cli.fixture.ts';

let base: string;
let commits: string[];
const store = () => join(base, 'now/store');

const dray = (folder: string, ...parameters: string[]): Promise<CliResult> =>
  runCli(parameters, { cwd: join(base, 'now', folder) });

async function succeed(folder: string, ...parameters: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await dray(folder, ...parameters);
  expect({ parameters, exitCode, stderr }).toMatchObject({ exitCode: 0 });
  return stdout;
}

const noise = (seed: number, size: number) =>
  Buffer.from(Array.from({ length: size }, (_, at) => (Math.imul(at + 1, seed * 2_654_435) >>> 13) & 0xff));

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), 'dray-advice-'));
  mkdirSync(join(base, 'now/work'), { recursive: true });
  await succeed('work', 'init', '--remote', '../store');
  commits = [];
  writeFileSync(join(base, 'now/work/shared'), 's');
  for (const seed of [1, 2, 3, 4]) {
    writeFileSync(join(base, 'now/work/small'), noise(seed, 900));
    writeFileSync(join(base, 'now/work/large'), noise(seed, 3_000_000));
    await succeed('work', 'push', '-m', `commit ${seed}`);
    commits.push(JSON.parse(readFileSync(join(store(), 'refs/heads/main'), 'utf8')).commit);
  }
  await succeed('work', 'branch', 'other', commits[2]!);
  await succeed('work', 'tag', 'v1', commits[2]!);
  await succeed('work', 'forget', '--keep-last', '2', '--save');
  await succeed('work', 'gc', '--grace', '0s');
  await succeed('', 'clone', 'store', 'copy');
  cpSync(join(base, 'now'), join(base, 'saved'), { recursive: true, preserveTimestamps: true });
}, 120_000);
afterAll(() => rmSync(base, { recursive: true, force: true }));

const lose = (key: () => string) => () => rmSync(join(store(), key()));
const flip = (key: () => string) => () => spoilObject(store(), key(), 40);
const first = (folder: string) => () => keysBelow(store(), folder)[0]!;
const commit = (index: number) => () => commitKeyOf(commits[index]!);

const DAMAGE: Readonly<Record<string, () => void>> = {
  'a lost record of the tip': lose(commit(3)),
  'a flipped record of the tip': flip(commit(3)),
  'a lost record of an old commit': lose(commit(1)),
  'a flipped record of an old commit': flip(commit(1)),
  'a lost ref': lose(() => 'refs/heads/main'),
  'a flipped ref': flip(() => 'refs/heads/main'),
  'a lost dray.json': lose(() => 'dray.json'),
  'a flipped dray.json': () => writeFileSync(join(store(), 'dray.json'), '{"format":'),
  'a lost relocation': () => {
    for (const key of keysBelow(store(), 'relocations')) rmSync(join(store(), key));
  },
  'a lost pack': () => {
    for (const key of keysBelow(store(), 'packs')) rmSync(join(store(), key));
  },
  'a lost object': lose(first('objects')),
  'a lost state of the collection': lose(() => 'collection.json'),
  'a flipped state of the collection': flip(() => 'collection.json'),
  'a lost list of forgotten commits': lose(() => 'retention.json'),
  'a lost record of the refs': () => {
    const { refs } = JSON.parse(readFileSync(join(store(), 'collection.json'), 'utf8')) as { refs: string };
    rmSync(join(store(), `collection/${refs.slice(0, 2)}/${refs.slice(2)}`));
  },
};

const COMMANDS: readonly (readonly string[])[] = [
  ['gc', '--grace', '0s'],
  ['push'],
  ['log'],
  ['clone', '../store', '../fresh'],
  ['pull'],
  ['ls'],
  ['export', 'main', '../out'],
  ['verify'],
  ['repair'],
  ['forget', '--keep-last', '1'],
  ['branch', 'new', 'other'],
  ['tag', 'v2', 'other'],
  ['switch', 'other'],
  ['merge', 'other'],
];

function restore(harm: () => void): void {
  rmSync(join(base, 'now'), { recursive: true, force: true });
  cpSync(join(base, 'saved'), join(base, 'now'), { recursive: true, preserveTimestamps: true });
  // Something to push.
  writeFileSync(join(base, 'now/copy/b'), 'b');
  harm();
}

const PLACEHOLDERS: Readonly<Record<string, () => string>> = {
  COMMIT: () => commits[2]!.slice(0, 10),
  NAME: () => 'other2',
  URL: () => '../elsewhere',
};

function advised({ stderr }: CliResult): readonly (readonly string[])[] {
  return [...stderr.matchAll(/"dray ([^"]+)"/g)].map(([, line]) =>
    line!.split(' ').map((word) => PLACEHOLDERS[word]?.() ?? word),
  );
}

const reasonOf = ({ stderr }: CliResult) =>
  stderr.split('\n').find((line) => line.startsWith('dray: ')) ?? stderr;

/** Each of these takes a process, and so does each advice. */
const COMMANDS_TRIED = COMMANDS.slice(0, runBudget({ short: 3, long: COMMANDS.length }));

describe.each(Object.entries(DAMAGE))('the advice beside %s', (_, harm) => {
  it('is not refused for the reason that it is given for', { timeout: 600_000 }, async () => {
    const refused: string[] = [];
    for (const command of COMMANDS_TRIED) {
      restore(harm);
      const failed = await dray('copy', ...command);
      if (failed.exitCode === 0) continue;
      const lines = advised(failed);
      // The report of these two is on standard output.
      if (lines.length === 0 && !['verify', 'repair'].includes(command[0]!))
        refused.push(`${command.join(' ')}: no advice: ${reasonOf(failed)}`);
      for (const line of lines) {
        // The workspace that has pushed knows more than the clone.
        let isRefused = true;
        for (const folder of ['work', 'copy'])
          isRefused &&= await dray(folder, ...line).then(
            (each) => each.exitCode !== 0 && reasonOf(each) === reasonOf(failed),
          );
        if (isRefused) refused.push(`${command.join(' ')}: "dray ${line.join(' ')}": ${reasonOf(failed)}`);
      }
    }
    expect(refused).toEqual([]);
  });
});
