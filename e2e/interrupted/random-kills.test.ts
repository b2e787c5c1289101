/**
 * Two machines, one that pushes and one that pulls. Each command is killed at a random moment. After every
 * kill the remote holds all that its commits name, the same command succeeds, and both machines end equal.
 */
import { rmSync, statSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { verify } from '../../engine/jobs/history/verify.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { describeTree } from '../../engine/jobs/trees/same-trees.fixture.ts';
import { status } from '../../engine/jobs/working-copy/status.ts';
import { createS3Dataset, type S3Dataset } from '../s3-dataset.ts';
import { type S3Server, startVersitygw } from '../servers/versitygw.ts';

const ROUNDS = runBudget({ short: 1, long: 6 });
const EDITS = 100;
/** From before the command does anything until after its end. */
const KILL_AFTER_MS = { min: 150, max: 850 };

let server: S3Server;
beforeAll(async () => {
  server = await startVersitygw();
});
afterAll(() => server?.stop());

/** Numerical Recipes' linear congruential generator: the same edits for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Writes and removes files, and replaces files by folders and folders by files. */
function editTree(dataset: S3Dataset, round: number, random: () => number): void {
  for (let edit = 0; edit < EDITS; edit += 1) {
    const path = `work/d${Math.floor(random() * 9)}/f${Math.floor(random() * 40)}`;
    const full = dataset.sandbox.path(path);
    const isFolder = statSync(full, { throwIfNoEntry: false })?.isDirectory() ?? false;
    const choice = random();
    if (choice < 0.2 || isFolder) rmSync(full, { recursive: true, force: true });
    if (choice < 0.15) continue;
    const content = Buffer.alloc(Math.floor(random() * 60_000), `${round}-${edit}`);
    dataset.sandbox.write(choice < 0.2 ? `${path}/deep/er` : path, content);
  }
}

async function runKilledThenWhole(
  dataset: S3Dataset,
  workspace: string,
  command: string,
  killAfterMs: number,
) {
  await dataset.cli(workspace, [command], {
    onStarted: (child) => {
      const timer = setTimeout(() => child.kill('SIGKILL'), killAfterMs);
      child.once('exit', () => clearTimeout(timer));
    },
  });
  const verified = await verify(dataset.context('copy'), { readDataPercent: 100 });
  expect(verified).toMatchObject({ missing: 0, damaged: 0 });
  const whole = await dataset.cli(workspace, [command]);
  expect(whole, whole.stderr).toMatchObject({ exitCode: 0 });
}

describe.each(['packs', 'objects'] as const)(
  'Pushes and pulls killed at random moments, in the %s layout,',
  (kind) => {
    const seed = Math.floor(Math.random() * 2 ** 32);

    it(
      `lose nothing and succeed when repeated (seed ${seed})`,
      async () => {
        using dataset = createS3Dataset(server, `killed-${kind}`);
        const random = randomFrom(seed);
        const moment = () => KILL_AFTER_MS.min + random() * (KILL_AFTER_MS.max - KILL_AFTER_MS.min);
        const root = await dataset.init('work', { layout: { kind } });
        dataset.sandbox.write('work/first', 'one');
        await push(dataset.context('work'), {});
        await dataset.clone('copy');
        for (let round = 0; round < ROUNDS; round += 1) {
          editTree(dataset, round, random);
          await runKilledThenWhole(dataset, 'work', 'push', moment());
          await runKilledThenWhole(dataset, 'copy', 'pull', moment());
          expect(describeTree(dataset.sandbox.path('copy'))).toEqual(describeTree(root));
          const { changes } = await status(dataset.context('copy'), {});
          expect(changes).toMatchObject({ added: 0, modified: 0, deleted: 0, mode: 0 });
        }
      },
      5 * 60_000,
    );
  },
);
