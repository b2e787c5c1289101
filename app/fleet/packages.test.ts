import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createSandbox } from '../../engine/jobs/session/job.fixture.ts';
import { COMMAND } from '../cli/command.fixture.ts';
import { withPackages, withTracingPackages } from './packages.ts';

const manifest = JSON.parse(
  readFileSync(fileURLToPath(new URL('../../package.json', import.meta.url)), 'utf8'),
);

/** Writes the address of each module that Node resolves, required or imported, to the file in `SEEN`. */
const HOOK = `
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    appendFileSync(process.env.SEEN, found.url + '\\n');
    return found;
  },
});`;

describe('the optional packages', () => {
  it('are asked for by name and version when they are missing, all that package.json names', async () => {
    const missing = (name: string) =>
      Promise.reject(
        Object.assign(new Error(`Cannot find package '${name}'`), { code: 'ERR_MODULE_NOT_FOUND' }),
      );
    const messageOf = (loading: Promise<unknown>) =>
      loading.then(String, ({ code, message }) => `${code}: ${message}`);
    const messages = [
      await messageOf(withPackages(() => missing('@temporalio/worker'))),
      await messageOf(withTracingPackages(() => missing('@opentelemetry/resources'))),
    ];
    for (const message of messages) expect(message).toMatch(/^usage: .*Install them: npm install -g @/);
    const named = messages.flatMap((message) => message.match(/@[\w-]+\/[\w-]+@[\d.]+\d/g));
    const wanted = Object.entries(manifest.peerDependencies).map(([name, version]) => `${name}@${version}`);
    expect(named.sort()).toEqual(wanted.sort());
    expect(Object.keys(manifest.peerDependenciesMeta)).toEqual(Object.keys(manifest.peerDependencies));
    await expect(withPackages(() => missing('another'))).rejects.toThrow("Cannot find package 'another'");
  });

  it('are loaded by the commands of fleets and by no other', () => {
    using sandbox = createSandbox();
    sandbox.write('hook.mjs', HOOK);
    sandbox.write('a/file', 'content');
    const path = (name: string) => join(sandbox.folder, name);
    const optionalOf = (...words: readonly string[]) => {
      sandbox.write('seen', '');
      const own = { SEEN: path('seen'), DRAY_AUTHOR: 'ada', DRAY_CACHE: path('cache') };
      const environment = { ...process.env, ...own };
      const parameters = ['--import', pathToFileURL(path('hook.mjs')).href, COMMAND, ...words];
      const { status } = spawnSync(process.execPath, parameters, { cwd: sandbox.folder, env: environment });
      expect(status, words.join(' ')).toBe(words[1] === 'worker' ? 2 : 0);
      const seen = readFileSync(path('seen'), 'utf8').split('\n');
      expect(seen.length, words.join(' ')).toBeGreaterThan(2);
      return seen.filter((url) => /node_modules\/@(?:temporalio|opentelemetry)\//.test(url));
    };
    for (const words of [
      ['--help'],
      ['fleet', '--help'],
      ['init', 'a', '--remote', path('store')],
      ['-C', 'a', 'push', '-m', 'first'],
      ['copy', 'a', 'b'],
    ])
      expect(optionalOf(...words), words.join(' ')).toEqual([]);
    // It reads the file once it has loaded the packages. Without that error it would wait for Temporal.
    const used = optionalOf('fleet', 'worker', '--temporal', '127.0.0.1:1', '--api-key-file', 'missing');
    expect(used.filter((url) => url.includes('@temporalio/worker'))).not.toEqual([]);
    expect(used.filter((url) => url.includes('@opentelemetry'))).toEqual([]);
  });
});
