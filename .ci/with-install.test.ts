/** Uses a project whose pinned "Node" is a script that reports itself and starts the real one. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let project: string;

function run(...parameters: string[]) {
  const script = join(project, '.ci/with-install.mjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...parameters], {
    encoding: 'utf8',
  });
  return { status, stdout, hasInstalled: stderr.includes('npm ci') };
}

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'dray-install-'));
  mkdirSync(join(project, '.ci'));
  mkdirSync(join(project, 'pinned'));
  cpSync(
    fileURLToPath(new URL('./with-install.mjs', import.meta.url)),
    join(project, '.ci/with-install.mjs'),
  );
  writeFileSync(
    join(project, 'pinned/package.json'),
    JSON.stringify({ name: 'node', version: '1.2.3', bin: { node: 'node.sh' } }),
  );
  writeFileSync(join(project, 'pinned/node.sh'), `#!/bin/sh\necho pinned\nexec '${process.execPath}' "$@"\n`);
  chmodSync(join(project, 'pinned/node.sh'), 0o755);
  writeFileSync(
    join(project, 'package.json'),
    JSON.stringify({ name: 'project', version: '1.0.0', dependencies: { node: 'file:pinned' } }),
  );
  spawnSync('npm', ['install', '--package-lock-only', '--offline'], { cwd: project });
  writeFileSync(
    join(project, 'script.mjs'),
    'console.log(process.argv.slice(2).join(), process.env.PATH.includes("node_modules")); process.exit(7);\n',
  );
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

describe('with-install', () => {
  it('installs once, then runs scripts with the pinned Node, their arguments and their exit code', () => {
    const script = join(project, 'script.mjs');
    const expected = { status: 7, stdout: 'pinned\na b,--c true\n' };
    expect(run(script, 'a b', '--c')).toEqual({ ...expected, hasInstalled: true });
    expect(existsSync(join(project, 'node_modules/.package-lock.json'))).toBe(true);
    expect(run(script, 'a b', '--c')).toEqual({ ...expected, hasInstalled: false });
  });

  it('installs again when the lock file asks for another version', () => {
    for (const name of ['pinned/package.json', 'package-lock.json']) {
      const path = join(project, name);
      writeFileSync(path, readFileSync(path, 'utf8').replace('1.2.3', '1.2.4'));
    }
    expect(run(join(project, 'script.mjs')).hasInstalled).toBe(true);
    expect(run(join(project, 'script.mjs')).hasInstalled).toBe(false);
  });
});
