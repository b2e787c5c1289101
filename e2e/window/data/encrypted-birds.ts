/** A workspace whose repository is encrypted, with one commit. */
import { mkdirSync } from 'node:fs';
import { expect } from 'vitest';
import { runCli } from '../../../app/cli/run-cli.fixture.ts';
import type { Sandbox } from '../../../engine/jobs/session/job.fixture.ts';

export const HERON_PASSWORD = 'two herons on one leg';

export interface EncryptedBirds {
  readonly root: string;
  readonly opens: (password: string) => Promise<boolean>;
}

export async function pushedBirds(
  sandbox: Sandbox,
  remote: string = sandbox.path('store'),
  environment: Readonly<Record<string, string>> = {},
): Promise<EncryptedBirds> {
  const root = sandbox.path('birds');
  mkdirSync(root);
  const dray = (words: readonly string[], password = HERON_PASSWORD) =>
    runCli(words, { cwd: root, environment: { ...environment, DRAY_PASSWORD: password } });
  await dray(['init', '--encrypt', '--remote', remote, '-q']);
  sandbox.write('birds/list.txt', 'grey heron\n');
  expect(await dray(['push', '-m', 'the first', '-q'])).toMatchObject({ exitCode: 0 });
  return { root, opens: async (password) => (await dray(['log'], password)).exitCode === 0 };
}
