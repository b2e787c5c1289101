import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { createSandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { runWindow } from './run-window.ts';

it('a window whose engine keeps crashing ends, and frees its port', async () => {
  using sandbox = createSandbox();
  const context = testContext(sandbox.folder, { environment: { HOME: sandbox.folder } });
  const code = "import 'node:worker_threads'; throw new Error('on purpose');";
  const workerUrl = pathToFileURL(sandbox.write('broken-worker.mjs', code));
  const running = runWindow(context, { port: 0, opensBrowser: false, workerUrl });
  await expect(running).rejects.toMatchObject({
    code: 'internal',
    message: expect.stringContaining('on purpose It will not restart.'),
  });
  const announced = context.events.find((event) => event.type === 'window');
  if (announced?.type === 'window') await expect(fetch(announced.url)).rejects.toThrow();
});
