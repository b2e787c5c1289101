/**
 * Whether the model would notice: each rule of a collection is taken out of Dray's code in turn, and then
 * some order must leave a ref that is not whole.
 */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { rawZstd } from './raw-zstd.ts';

const ENGINE = '../../engine';
vi.mock('node:zlib', async (original) => ({
  ...(await original<typeof import('node:zlib')>()),
  ...rawZstd(),
}));

afterEach(() => {
  vi.doUnmock(`${ENGINE}/jobs/collect/fence-refs.ts`);
  vi.doUnmock(`${ENGINE}/jobs/collect/condemned-keys.ts`);
  vi.doUnmock(`${ENGINE}/repository/collection/publish.ts`);
  vi.doUnmock(`${ENGINE}/repository/collection/collection-view.ts`);
  vi.resetModules();
});

/** For each rule a scenario that needs it, and how the rule is taken out. */
const RULES: Readonly<Record<string, readonly [scenario: string, takeOut: () => void]>> = {
  'the fence': [
    'a push of content that is about to be collected',
    () =>
      vi.doMock(`${ENGINE}/jobs/collect/fence-refs.ts`, async (original) => ({
        ...(await original<object>()),
        fenceRefs: async () => {},
      })),
  ],
  'the second mark': [
    'a push to a new branch',
    () =>
      vi.doMock(`${ENGINE}/jobs/collect/condemned-keys.ts`, async (original) => ({
        ...(await original<object>()),
        findRescued: async () => ({ lists: [], objects: 0 }),
      })),
  ],
  'the pending ref': [
    'a push to a new branch',
    () =>
      vi.doMock(`${ENGINE}/repository/collection/publish.ts`, async (original) => {
        const real = await original<typeof import('../../engine/repository/collection/publish.ts')>();
        const { readAnyRef, writeAnyRef } = await import('../../engine/repository/refs.ts');
        const publish: typeof real.publish = async (options) => {
          const { name, prepare, repository, store, tip, view } = options;
          if (tip) return real.publish(options);
          const there = await readAnyRef(store, name);
          const commit = await prepare(undefined);
          const value = { commit, epoch: view!.round, repository, collects: true, state: 'live' } as const;
          await writeAnyRef(store, name, value, there ? { etag: there.etag } : { absent: true });
          return { commit, before: undefined };
        };
        return { ...real, publish };
      }),
  ],
  'the rule that a condemned key is never written again': [
    'a push of content that is about to be collected',
    () =>
      vi.doMock(`${ENGINE}/repository/collection/collection-view.ts`, async (original) => ({
        ...(await original<object>()),
        newObject: () => ({}),
      })),
  ],
};

describe('without a rule, some order loses content', () => {
  it.each(Object.keys(RULES))('without %s', async (rule) => {
    vi.resetModules();
    RULES[rule]![1]();
    const { exploreAll } = await import('./explore.ts');
    const { runScenario, SCENARIOS } = await import('./scenarios.ts');
    const machines = SCENARIOS[RULES[rule]![0]]!;
    const faults = { kills: true, losses: false };
    const orders = exploreAll(async (choose) => void (await runScenario(machines, choose, faults)), {
      deviations: 2,
    });
    await expect(orders).rejects.toThrow(/^after the run, heads\/.* lacks /);
  });
});
