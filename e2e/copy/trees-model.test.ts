/**
 * Copies and syncs of random trees, compared with a model that is a map: between folders, a folder and a
 * store, and two stores. One run follows another over changing sources, so the cache is tested as well.
 */
import { existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PlaceRequest, SyncRequest } from '../../engine/api/jobs/trees.ts';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { createSandbox, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { copyTree, syncTree } from '../../engine/jobs/trees/copy-tree.ts';
import { type FakeS3, startFakeS3 } from '../servers/fake-s3.ts';
import { compilePatterns } from './model-patterns.ts';

/** Content by path. */
type Tree = ReadonlyMap<string, string>;
type Kind = 'folder' | 'store';

const SEED = 20_261_121;
const RUNS = runBudget({ short: 10, long: 250 });

const names = fc.constantFrom(
  'f0',
  'f1',
  'f2',
  'f-3',
  'd0/f0',
  'd0/f1',
  'd0-x/f',
  'd0/d1/f',
  'd2/f.log',
  'f.log',
);
/** Few lengths, so that equal sizes with different content are common. */
const contents = fc.constantFrom('', 'a', 'b', 'aa', 'ab', 'x'.repeat(30), 'y'.repeat(30));
const trees = fc.array(fc.tuple(names, contents), { maxLength: 10 }).map((entries) => new Map(entries));
const steps = fc.record({
  source: trees,
  isSync: fc.boolean(),
  exclude: fc.constantFrom(undefined, '*.log', 'd0/**'),
  compare: fc.constantFrom('sizeAndTime', 'checksum', undefined),
  noIndex: fc.boolean(),
});
const kinds = fc.constantFrom<Kind>('folder', 'store');

function expected(before: Tree, step: { source: Tree; isSync: boolean; exclude: string | undefined }): Tree {
  const isSeen = compilePatterns(step.exclude);
  const after = new Map(before);
  if (step.isSync) for (const path of before.keys()) if (isSeen(path)) after.delete(path);
  for (const [path, content] of step.source) if (isSeen(path)) after.set(path, content);
  return after;
}

interface Side {
  readonly place: PlaceRequest;
  write(tree: Tree): void;
  read(): Tree;
}

function folderSide(sandbox: Sandbox, name: string): Side {
  const root = sandbox.path(name);
  // Two sides never share a time by chance, because Dray then compares only size and time.
  let clock = name === 'source' ? 1_600_000_000 : 1_500_000_000;
  return {
    place: { place: root },
    write(tree) {
      const before = readFolder(root);
      for (const path of before.keys()) if (!tree.has(path)) rmSync(join(root, path));
      sandbox.path(name, 'x');
      for (const [path, content] of tree) {
        if (before.get(path) === content) continue;
        sandbox.write(`${name}/${path}`, content);
        // A change also sets a new time, as real edits do.
        clock += 1;
        utimesSync(join(root, path), clock, clock);
      }
    },
    read: () => readFolder(root),
  };
}

function readFolder(root: string): Tree {
  if (!existsSync(root)) return new Map();
  const paths = readdirSync(root, { recursive: true }) as string[];
  return new Map(
    paths
      .filter((path) => statSync(join(root, path)).isFile())
      .map((path) => [path, readFileSync(join(root, path), 'utf8')]),
  );
}

function storeSide(store: FakeS3, prefix: string): Side {
  const own = () => [...store.objects].filter(([key]) => key.startsWith(`${prefix}/`));
  return {
    place: { place: `s3://${store.bucket}/${prefix}`, connection: { endpoint: store.endpoint } },
    write(tree) {
      for (const [key] of own()) if (!tree.has(key.slice(prefix.length + 1))) store.objects.delete(key);
      for (const [path, content] of tree) {
        const key = `${prefix}/${path}`;
        if (store.objects.get(key)?.toString() !== content) store.objects.set(key, Buffer.from(content));
      }
    },
    read: () =>
      new Map(own().map(([key, bytes]) => [key.slice(prefix.length + 1), Buffer.from(bytes).toString()])),
  };
}

const sorted = (tree: Tree) => [...tree].sort(([left], [right]) => (left < right ? -1 : 1));

describe('A destination', () => {
  it(`equals a model after ${RUNS} random series of copies and syncs (seed ${SEED})`, async () => {
    await fc.assert(
      fc.asyncProperty(
        kinds,
        kinds,
        trees,
        fc.array(steps, { minLength: 1, maxLength: 4 }),
        async (from, to, first, series) => {
          await using store = await startFakeS3();
          await using other = await startFakeS3();
          using sandbox = createSandbox();
          const source = from === 'folder' ? folderSide(sandbox, 'source') : storeSide(store, 'source');
          const destination = to === 'folder' ? folderSide(sandbox, 'target') : storeSide(other, 'target');
          destination.write(first);
          let model: Tree = first;
          for (const step of series) {
            source.write(step.source);
            // A store's prefix without objects is not a place, nor is a missing folder.
            if (step.source.size === 0) continue;
            const request: SyncRequest = {
              source: source.place,
              destination: destination.place,
              maxDelete: { percent: 100 },
              ...(step.exclude === undefined
                ? {}
                : { filter: { rules: [{ action: 'exclude', pattern: step.exclude }] } }),
              ...(step.compare === undefined ? {} : { compare: step.compare }),
              ...(step.noIndex ? { noIndex: true } : {}),
            };
            const run = () =>
              (step.isSync ? syncTree : copyTree)(
                testContext(sandbox.folder, {
                  environment: { ...store.environment, DRAY_CACHE: sandbox.path('cache') },
                }),
                request,
              );
            expect(await run()).toMatchObject({ failed: 0 });
            model = expected(model, step);
            expect(sorted(destination.read())).toEqual(sorted(model));
            expect(await run()).toMatchObject({ copiedFiles: 0, deletedFiles: 0, failed: 0 });
          }
        },
      ),
      { numRuns: RUNS, seed: SEED },
    );
  });
});
