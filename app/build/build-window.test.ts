import { utimesSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createSandbox } from '../../engine/jobs/session/job.fixture.ts';
import { whyStale } from './build-window.ts';

describe('a built window', () => {
  it('is out of date when it is missing, or older than a source that is no test', () => {
    using sandbox = createSandbox();
    const folder = sandbox.path('dist');
    expect(whyStale(folder, sandbox.folder)).toBe(`${folder} has no window`);
    const write = (path: string, seconds: number) => utimesSync(sandbox.write(path, ''), seconds, seconds);
    write('dist/index.html', 1_000);
    write('renderer/app.tsx', 999);
    write('renderer/route.test.ts', 1_001);
    write('engine/jobs/push.ts', 1_001);
    expect(whyStale(folder, sandbox.folder)).toBeUndefined();
    for (const path of ['renderer/design/card.css', 'engine/api/events.ts', 'package-lock.json']) {
      write(path, 1_001);
      expect(whyStale(folder, sandbox.folder)).toBe(`The window in ${folder} is older than ${path}`);
      write(path, 999);
    }
  });
});
