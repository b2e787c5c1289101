/** An encrypted repository is what FORMAT.md says: a reader in Python, written after it, opens one. */
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { push } from '../../engine/jobs/push/push.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { createSandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';

const run = promisify(execFile);
const READER = fileURLToPath(new URL('encryption-reader.py', import.meta.url));

/** A Python with the package: this machine's, or that of a new environment. */
async function findPython(folder: string): Promise<string> {
  const has = (python: string) =>
    run(python, ['-c', 'from cryptography.hazmat.primitives.kdf import argon2']);
  if (
    await has('python3').then(
      () => true,
      () => false,
    )
  )
    return 'python3';
  await run('python3', ['-m', 'venv', folder]);
  await run(`${folder}/bin/pip`, ['install', '-q', 'cryptography>=45']);
  return `${folder}/bin/python3`;
}

it('A reader in Python opens what Dray pushed, by a password and by the recovery key', async () => {
  using sandbox = createSandbox();
  const contents = new Map<string, Buffer>([
    ['a.txt', Buffer.from('hello\n')],
    ['empty', Buffer.alloc(0)],
    ['näme/deep/b', randomBytes(2_000_000)],
    ['large.bin', randomBytes(9_000_000)],
  ]);
  for (const [path, content] of contents) sandbox.write(`work/${path}`, content);
  const password = 'pässword';
  const work = testContext(sandbox.path('work'), { environment: { DRAY_PASSWORD: password } });
  const { recoveryKey } = await initWorkspace(work, {
    remoteUrl: sandbox.path('store'),
    encrypt: true,
    layout: { chunkAbove: 4_000_000 },
  });
  await push(work, {});
  const python = await findPython(sandbox.path('python'));
  const expected = [...contents].map(([path, content]) => [
    path,
    createHash('sha256').update(content).digest('hex'),
  ]);
  for (const given of [password, recoveryKey]) {
    const env = { ...process.env, DRAY_PASSWORD: given, NODE: process.execPath };
    const { stdout } = await run(python, [READER, sandbox.path('store')], { env });
    expect(JSON.parse(stdout)).toEqual(Object.fromEntries(expected));
  }
  expect(readFileSync(sandbox.path('store/dray.json'), 'utf8')).toContain('"encryption"');
});
