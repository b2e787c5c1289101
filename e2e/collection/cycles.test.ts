/** A repository that forgets and collects after each version stays as small as a new one of what is kept. */
import { cpSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { collectGarbage } from '../../engine/jobs/collect/collect.ts';
import { verify } from '../../engine/jobs/history/verify.ts';
import { push } from '../../engine/jobs/push/push.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { forget } from '../../engine/jobs/retention/forget.ts';
import { createSandbox, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { type Draw, drawFrom } from '../seeded-draw.ts';

const VERSIONS = runBudget({ short: 12, long: 50 });
const KEPT = 5;
const RATIO_MAX = 1.3;
/** Every other file is noise, the others compress well. */
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

/** The files of the dataset, and the number of the next one. */
interface Dataset {
  readonly draw: Draw;
  readonly files: number;
  readonly live: Set<number>;
  next: number;
}

function write(sandbox: Sandbox, { draw }: Dataset, index: number): void {
  const sizeBytes = 1 + draw.below(FILE_BYTES_MAX);
  const content = index % 2 === 0 ? draw.noise(sizeBytes) : textOf(draw, sizeBytes);
  sandbox.write(`work/${pathOf(index)}`, content);
}

function textOf(draw: Draw, sizeBytes: number): string {
  const lines = Array.from(
    { length: Math.ceil(sizeBytes / 20) },
    () => `measured,${draw.below(1_000_000)},kept`,
  );
  return lines.join('\n');
}

function add(sandbox: Sandbox, dataset: Dataset, files: number): void {
  for (let count = Math.ceil(files); count > 0; count -= 1) {
    write(sandbox, dataset, dataset.next);
    dataset.live.add(dataset.next++);
  }
}

/** 2 % of the files change, 1 % are new, 0.5 % go; a large one changes now and then. */
function edit(sandbox: Sandbox, dataset: Dataset): void {
  const { draw, files, live } = dataset;
  const before = [...live];
  for (let count = Math.ceil(files * 0.02); count > 0; count -= 1) write(sandbox, dataset, draw.of(before));
  for (let count = Math.ceil(files * 0.005); count > 0; count -= 1) {
    const gone = draw.of(before);
    rmSync(sandbox.path('work', pathOf(gone)), { force: true });
    live.delete(gone);
  }
  add(sandbox, dataset, files * 0.01);
  if (draw.chance(20)) sandbox.write('work/large', Buffer.alloc(LARGE_BYTES, draw.noise(64)));
}

async function init(sandbox: Sandbox, workspace: string, store: string) {
  mkdirSync(sandbox.path(workspace), { recursive: true });
  const context = testContext(sandbox.path(workspace));
  await initWorkspace(context, { remoteUrl: `../${store}` });
  return context;
}

describe('cycles of a version, forget and gc', () => {
  it.each(runBudget({ short: [400], long: [400, 1_500] }))(
    `of %i files keep the store within ${RATIO_MAX} of a new one of the ${KEPT} versions that stay`,
    async (files) => {
      using sandbox = createSandbox();
      const dataset: Dataset = { draw: drawFrom(7), files, live: new Set(), next: 0 };
      const context = await init(sandbox, 'work', 'store');
      add(sandbox, dataset, files);
      for (let version = 1; version <= VERSIONS; version += 1) {
        if (version > 1) edit(sandbox, dataset);
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
