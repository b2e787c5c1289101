import { homedir } from 'node:os';
import { expect, it } from 'vitest';
import { systemClock } from '../../engine/base/clock.ts';
import { createSandbox } from '../../engine/jobs/session/job.fixture.ts';
import { limitedDrops } from './drop-context.ts';

it('dropped files respect the bandwidth limit of the settings', async () => {
  using sandbox = createSandbox();
  const limit = 1024;
  const settings = {
    theme: 'system',
    bandwidth: { limit },
    transfers: null,
    notifications: true,
  };
  sandbox.write('config/window.json', JSON.stringify({ workspaces: [], settings }));
  const environment = { DRAY_CONFIG: sandbox.path('config', 'config.json') };
  let nowMs = 0;
  const clock = {
    ...systemClock,
    monotonicMs: () => nowMs,
    sleep: async (pauseMs: number) => {
      nowMs += pauseMs;
    },
  };
  const { throttle } = limitedDrops({ connection: {}, environment }, { clock });
  await throttle?.take(60 * limit, undefined);
  expect(nowMs).toBeGreaterThan(50_000);
});

it('dropped files go to the place that Browse shows, whatever folder the window was started in', () => {
  using sandbox = createSandbox();
  const environment = { DRAY_CONFIG: sandbox.path('config', 'config.json') };
  const { directory } = limitedDrops({ connection: {}, environment });
  expect(directory).toBe(homedir());
});
