/** A repository that forgets and collects after each version stays as small as a new one of what is kept. */
import { cpSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { collectGarbage } from '../../engine/jobs/collect/collect.ts';
import { verify } from '../../engine/jobs/history/verify.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { forget } from '../../engine/jobs/retention/forget.ts';
import { createSandbox, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { type Draw, drawFrom } from '../seeded-draw.ts';

const VERSIONS = 12;
const KEPT = 5;
const RATIO_MAX = 1.3;
const FILES = 400;
const FILE_BYTES_MAX = 20_000;
/** Larger than the bound of packs. */
const LARGE_BYTES = 1_100_000;

const pathOf = (index: number) => `d${index % 20}/f${index}`;

function bytesBelow(folder: string): number {
  const items = readdirSync(folder, { withFileTypes: true, recursive: true });
  return items.reduce(
    (sum, item) => sum + (item.isFile() ? statSync(join(item.parentPath, item.name)).size : 0),
    0,
  );
}

/** 2 % of the files change, and as many as 1 % of the first are new; a large one changes now and then. */
function edit(sandbox: Sandbox, draw: Draw, files: number): number {
  const write = (index: number) =>
    sandbox.write(`work/${pathOf(index)}`, draw.noise(1 + draw.below(FILE_BYTES_MAX)));
  for (let count = Math.ceil(files * 0.02); count > 0; count -= 1) write(draw.below(files));
  const grown = files + Math.ceil(FILES * 0.01);
  for (let index = files; index < grown; index += 1) write(index);
  if (draw.chance(20)) sandbox.write('work/large', Buffer.alloc(LARGE_BYTES, draw.noise(64)));
  return grown;
}

async function init(sandbox: Sandbox, workspace: string, store: string) {
  mkdirSync(sandbox.path(workspace), { recursive: true });
  const context = testContext(sandbox.path(workspace));
  await initWorkspace(context, { remoteUrl: `../${store}` });
  return context;
}

describe('cycles of a version, forget and gc', () => {
  it(
    `keep the store within ${RATIO_MAX} of a new one of the ${KEPT} versions that stay`,
    async () => {
      using sandbox = createSandbox();
      const draw = drawFrom(7);
      const context = await init(sandbox, 'work', 'store');
      for (let index = 0; index < FILES; index += 1)
        sandbox.write(`work/${pathOf(index)}`, draw.noise(1 + draw.below(FILE_BYTES_MAX)));
      for (let version = 1, files = FILES; version <= VERSIONS; version += 1) {
        if (version > 1) files = edit(sandbox, draw, files);
        await push(context, { message: `${version}` });
        await forget(context, { policy: { keepLast: KEPT } });
        await collectGarbage(context, { graceSeconds: 0 });
        if (version <= VERSIONS - KEPT) continue;
        cpSync(sandbox.path('work'), sandbox.path(`kept/${version}`), {
          recursive: true,
          preserveTimestamps: true,
          filter: (source) => !source.endsWith('.dray'),
        });
      }
      expect(await verify(context, { readDataPercent: 100 })).toMatchObject({
        missing: 0,
        damaged: 0,
        commits: KEPT,
        forgotten: VERSIONS - KEPT,
      });
      const fresh = await init(sandbox, 'fresh', 'fresh-store');
      for (const version of readdirSync(sandbox.path('kept')).sort(
        (left, right) => Number(left) - Number(right),
      )) {
        for (const name of readdirSync(sandbox.path('fresh')))
          if (name !== '.dray') rmSync(sandbox.path('fresh', name), { recursive: true });
        cpSync(sandbox.path('kept', version), sandbox.path('fresh'), {
          recursive: true,
          preserveTimestamps: true,
        });
        await push(fresh, { message: version });
      }
      const [cycled, anew] = [bytesBelow(sandbox.path('store')), bytesBelow(sandbox.path('fresh-store'))];
      expect(cycled / anew).toBeLessThanOrEqual(RATIO_MAX);
    },
    30 * 60_000,
  );
});
