/**
 * Whether the model would notice: each rule of a collection is taken out of Dray's code in turn, and then
 * some order must leave a ref that is not whole.
 *
 * Two rules are not here: that a new pack that was ever a candidate replaces no old one, and that a
 * relocation that was ever a candidate lets no old pack go. A collection writes packs anew before its round,
 * so no order with two switches needs them. `repack.test.ts` has orders with more.
 */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { rawZstd } from './raw-zstd.ts';

const ENGINE = '../../engine';
const MINUTE_MS = 60_000;

vi.mock('node:zlib', async (original) => ({
  ...(await original<typeof import('node:zlib')>()),
  ...rawZstd(),
}));

afterEach(() => {
  vi.doUnmock(`${ENGINE}/jobs/collect/fence-refs.ts`);
  vi.doUnmock(`${ENGINE}/jobs/collect/condemned-keys.ts`);
  vi.doUnmock(`${ENGINE}/jobs/collect/repack.ts`);
  vi.doUnmock(`${ENGINE}/repository/collection/publish.ts`);
  vi.doUnmock(`${ENGINE}/repository/collection/collection-view.ts`);
  vi.resetModules();
});

/** For each rule a scenario that needs it, and how the rule is taken out. */
const withoutFence = () =>
  vi.doMock(`${ENGINE}/jobs/collect/fence-refs.ts`, async (original) => ({
    ...(await original<object>()),
    fenceRefs: async () => {},
  }));

const RULES: Readonly<Record<string, readonly [scenario: string, takeOut: () => void]>> = {
  'the fence': ['a push of content that is about to be collected', withoutFence],
  'the fence of a retired key': ['a push of content whose key is retired', withoutFence],
  'the rule that a relocation is there before the old pack goes': [
    'a clone of a commit whose pack is replaced',
    () => {
      const late: (() => Promise<unknown>)[] = [];
      vi.doMock(`${ENGINE}/jobs/collect/repack.ts`, async (original) => {
        const real = await original<typeof import('../../engine/jobs/collect/repack.ts')>();
        const repack: typeof real.repack = ({ store, ...tools }, options) => {
          const put: typeof store.put = async (key, bytes, call = {}) => {
            if (!key.startsWith('relocations/')) return store.put(key, bytes, call);
            // The signal of its own call has fired by then.
            const { signal: _, ...rest } = call;
            late.push(() => store.put(key, bytes, rest));
            return { written: true, etag: 'x' };
          };
          return real.repack({ ...tools, store: { ...store, put } }, options);
        };
        return { ...real, repack };
      });
      vi.doMock(`${ENGINE}/jobs/collect/condemned-keys.ts`, async (original) => {
        const real = await original<typeof import('../../engine/jobs/collect/condemned-keys.ts')>();
        const removeCondemned: typeof real.removeCondemned = async (...call) => {
          await real.removeCondemned(...call);
          // Those of a collector that was killed are never written.
          for (const put of late.splice(0)) await put().catch(() => undefined);
        };
        return { ...real, removeCondemned };
      });
    },
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
  async function expectLoss(rule: string): Promise<void> {
    vi.resetModules();
    RULES[rule]![1]();
    const { exploreAll } = await import('./explore.ts');
    const { runScenario, SCENARIOS } = await import('./scenarios.ts');
    const scenario = SCENARIOS[RULES[rule]![0]]!;
    const faults = { kills: true, losses: false };
    const orders = exploreAll(async (choose) => void (await runScenario(scenario, choose, faults)), {
      deviations: 2,
    });
    await expect(orders).rejects.toThrow(
      /^after (?:the run|another collection), (?:heads\/.* lacks|a new commit names) |, which is missing|^packs\/\S+ is missing: a commit/,
    );
  }

  for (const rule of Object.keys(RULES)) it(`without ${rule}`, () => expectLoss(rule), MINUTE_MS);
});
