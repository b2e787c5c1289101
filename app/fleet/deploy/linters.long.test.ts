/** Linters read the files for a cluster. They come from PyPI, so they run in the long tests. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { createSandbox } from '../../../engine/jobs/session/job.fixture.ts';
import { installLinters, lint } from './linters.fixture.ts';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8');

describe('the linters', () => {
  let binaries: string;
  const run = (program: string, ...parameters: string[]) => lint(join(binaries, program), ...parameters);
  const CLEAN = { exitCode: 0, output: '' };

  beforeAll(async () => {
    binaries = await installLinters();
  });

  it('find nothing in the recipe of the image, and something in a worse one', async () => {
    expect(await run('hadolint', join(FOLDER, 'worker.Dockerfile'))).toEqual(CLEAN);
    using sandbox = createSandbox();
    const worse = join(sandbox.folder, 'worse');
    writeFileSync(worse, read('worker.Dockerfile').replaceAll(/FROM node:\S+/g, 'FROM node'));
    expect(await run('hadolint', '--no-color', worse)).toMatchObject({
      exitCode: 1,
      output: expect.stringContaining('DL3006'),
    });
  });

  it('find nothing in the form of the YAML files', async () => {
    const rules =
      '{extends: default, rules: {line-length: {max: 112}, document-start: disable, comments: {min-spaces-from-content: 1}}}';
    for (const name of ['compose.yaml', 'kubernetes.yaml'])
      expect(await run('yamllint', '--strict', '-d', rules, join(FOLDER, name))).toEqual(CLEAN);
  });

  it('find the compose file as its specification wants it', async () => {
    const check = (path: string) => run('check-jsonschema', '--builtin-schema', 'vendor.compose-spec', path);
    expect(await check(join(FOLDER, 'compose.yaml'))).toMatchObject({ exitCode: 0 });
    using sandbox = createSandbox();
    const worse = join(sandbox.folder, 'worse.yaml');
    writeFileSync(worse, read('compose.yaml').replace('cap_drop:', 'cap_dropped:'));
    expect(await check(worse)).toMatchObject({ exitCode: 1 });
  });

  it('find the manifests as Kubernetes wants them', async () => {
    const check = (path: string) => run('kubernetes-validate', '--strict', path);
    const { exitCode, output } = await check(join(FOLDER, 'kubernetes.yaml'));
    expect(exitCode, output).toBe(0);
    const passed = [...output.matchAll(/passed for resource (\w+)\//g)].map(([, name]) => name);
    expect(passed).toEqual(['serviceaccount', 'configmap', 'deployment']);
    // They do not know KEDA's kind.
    expect(output.match(/WARN.*/g)).toEqual([expect.stringContaining('kind ScaledObject')]);
    using sandbox = createSandbox();
    const worse = join(sandbox.folder, 'worse.yaml');
    writeFileSync(worse, read('kubernetes.yaml').replace('terminationGracePeriodSeconds', 'gracePeriod'));
    expect((await check(worse)).exitCode).not.toBe(0);
  });
});
