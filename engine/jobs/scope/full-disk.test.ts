import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { createSandbox, testContext } from '../session/job.fixture.ts';

const canMount = process.platform === 'linux' && spawnSync('unshare', ['-rm', 'true']).status === 0;
const url = (name: string) => JSON.stringify(new URL(name, import.meta.url).href);

it.skipIf(!canMount)(
  'a widening that fills the disk leaves the part as it was, and goes on when there is room (needs unshare)',
  async () => {
    using sandbox = createSandbox();
    const [whole, store, folder] = ['whole', 'store', 'small-disk'].map((name) => sandbox.path(name));
    mkdirSync(folder!);
    sandbox.write('whole/first', 'first');
    for (let at = 0; at < 40; at += 1)
      sandbox.write(`whole/large/${at}`, Buffer.alloc(200_000, `content of ${at}, `));
    await initWorkspace(testContext(whole!), { remoteUrl: store! });
    await push(testContext(whole!), {});
    const script = `
      import { execFileSync } from 'node:child_process';
      import { cloneWorkspace } from ${url('../pull/clone.ts')};
      import { push } from ${url('../push/push.ts')};
      import { scope } from ${url('./scope.ts')};
      import { describeTree } from ${url('../trees/same-trees.fixture.ts')};
      import { status } from ${url('../working-copy/status.ts')};
      const [folder, store, whole] = ${JSON.stringify([folder, store, whole])};
      const part = folder + '/part';
      const contextIn = (directory) => ({ directory, connection: {}, environment: {}, signal: new AbortController().signal, emit: () => {} });
      await cloneWorkspace(contextIn(folder), { url: store, directory: 'part', only: ['first'] });
      const add = () => scope(contextIn(part), { action: 'add', patterns: ['large'] });
      const code = await add().then(() => undefined, (error) => error.code);
      const between = await status(contextIn(part), {});
      const { result } = await push(contextIn(part), { dryRun: true });
      execFileSync('mount', ['-o', 'remount,size=64m', folder]);
      const { failed, outside } = await add();
      const isSame = describeTree(part).join() === describeTree(whole).join();
      console.log(JSON.stringify({ code, changes: between.changes, scope: between.scope, result, failed, outside, isSame }));`;
    const mount = `mount -t tmpfs -o size=3m none ${folder}`;
    const run = `${mount} && exec "$0" --input-type=module -e "$1"`;
    const { stderr, stdout } = spawnSync('unshare', ['-rm', 'sh', '-c', run, process.execPath, script], {
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toMatchObject({
      code: 'diskFull',
      changes: { added: 0, modified: 0, deleted: 0 },
      scope: { only: ['first'] },
      result: 'nothingToPush',
      failed: 0,
      outside: { count: 0 },
      isSame: true,
    });
  },
);
