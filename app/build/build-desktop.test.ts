import { execFile } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createSandbox } from '../../engine/jobs/session/job.fixture.ts';
import { buildDesktop } from './build-desktop.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

describe('the bundle of the desktop app', () => {
  it('starts with a fake of Electron, and its engine answers from its thread', async () => {
    using sandbox = createSandbox();
    sandbox.write('dist/window/index.html', '');
    sandbox.write('package.json', '{"type":"module"}');
    symlinkSync(`${ROOT}node_modules`, sandbox.path('node_modules'), 'junction');
    await buildDesktop(sandbox.path('dist/desktop'));
    const script = `${ROOT}app/desktop/run-bundle.fixture.ts`;
    const env = { ...process.env, DRAY_CONFIG: sandbox.path('config.json') };
    const parameters = [script, sandbox.path('dist'), sandbox.folder];
    const { stdout } = await promisify(execFile)(process.execPath, parameters, { env });
    expect(JSON.parse(stdout)).toEqual({
      url: 'dray-app://window/index.html',
      status: 200,
      answer: { is: 'answer', id: 1, answer: { workspaces: [] } },
    });
  });
});
