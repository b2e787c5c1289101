import { describe, expect, it } from 'vitest';
import { linkedHolding, type Needs, writtenHolding } from './holding.ts';
import { planBenches, type StoreChoice } from './plan-benches.ts';
import type { Disk } from './room.ts';
import { roomOf } from './room.ts';
import { type Heat, listHeats } from './scenario.ts';
import { createScenarios } from './scenarios.ts';

const GIB = 1024 ** 3;
const MANY = { files: 100_000, bytesMax: 1024, sizes: 'spread' } as const;

function heat(name: string, needs: Partial<Needs> = {}, more: Partial<Heat> = {}): Heat {
  const data = { name, scenario: name, latencyMs: 0, title: name, targets: [] };
  return { ...data, needs: { holdings: [], ...needs }, open: async () => [], ...more };
}

/** Disks of these sizes, with 100,000 inodes a GiB. */
function choices(memoryGib: number, diskGib: number): readonly StoreChoice[] {
  const disk = (path: string, gib: number): Disk => ({
    path,
    device: path.length,
    free: { bytes: gib * GIB, inodes: gib * 100_000 },
  });
  const [memory, source] = [disk('/memory', memoryGib), disk('/tmp', diskGib)];
  const offered = [memory, source] as const;
  return [
    { store: 'memory', disks: { source, store: memory, offered } },
    { store: 'disk', disks: { source, store: source, offered } },
  ];
}

const storing = (gib: number) => ({ store: { bytes: gib * GIB, inodes: 1 } });

describe('The benches of a run', () => {
  it('keep stores in memory where they fit, else on disk, and exclude the rest', () => {
    const heats = [
      heat('large', storing(20)),
      heat('small', storing(1)),
      heat('huge', storing(90)),
      heat('local'),
    ];
    const { benches, leftOut } = planBenches(heats, ['versitygw'], choices(10, 60));
    const shown = benches.map((bench) => [
      bench.store,
      bench.storeParent,
      bench.heats.map((planned) => planned.heat.name).join(' '),
    ]);
    expect(shown).toEqual([
      ['memory', '/memory', 'small local'],
      ['disk', '/tmp', 'large'],
    ]);
    expect(leftOut).toMatchObject([
      { heat: { name: 'huge' }, server: 'versitygw', reason: expect.stringContaining('/tmp has 60.0 GiB') },
    ]);
  });

  it('are one for each server, and works without a server run with the first', () => {
    const heats = [heat('stored'), heat('peer', {}, { isWithoutStore: true })];
    const { benches } = planBenches(heats, ['minio', 'versitygw'], choices(10, 60));
    expect(benches.map(({ heats: planned, server }) => [server, planned.length])).toEqual([
      ['minio', 2],
      ['versitygw', 1],
    ]);
  });

  it("use each scenario's own server by default, and works without a server run once", () => {
    const heats = [
      heat('stored'),
      heat('joined', {}, { server: 'minio' }),
      heat('peer', {}, { isWithoutStore: true }),
    ];
    const { benches } = planBenches(heats, undefined, choices(10, 60));
    const shown = benches.map(({ heats: planned, server }) => [
      server,
      planned.map(({ heat: one }) => one.name),
    ]);
    expect(shown).toEqual([
      ['versitygw', ['stored', 'peer']],
      ['minio', ['joined']],
    ]);
  });

  it('reserve no room for scenarios measured already on that server', () => {
    const heats = [heat('large', storing(9)), heat('small', storing(9))];
    const isLacking = ({ name }: Heat, server: string) => name !== 'large' || server === 'minio';
    const { benches, leftOut } = planBenches(heats, ['versitygw', 'minio'], choices(10, 60), isLacking);
    const shown = benches.map((bench) => [
      bench.server,
      bench.heats.map(({ heat: one }) => one.name).join(' '),
    ]);
    expect(shown).toEqual([
      ['versitygw', 'small'],
      ['minio', 'large small'],
    ]);
    expect(leftOut).toEqual([]);
  });

  it("account for MinIO's folder for each object, and its lack of hard links", () => {
    const needs = { holdings: [writtenHolding(MANY), linkedHolding(MANY, 'md5')] };
    const lackOf = (server: 'versitygw' | 'minio', memoryGib: number, diskGib: number) =>
      planBenches([heat('dry', needs)], [server], choices(memoryGib, diskGib).slice(0, 1)).leftOut[0]?.reason;
    expect(roomOf(MANY).inodes).toBe(100_100);
    expect(lackOf('versitygw', 3, 1)).toBeUndefined();
    expect(lackOf('versitygw', 2, 1)).toContain('220,200 inodes');
    expect(lackOf('minio', 3, 1)).toContain('/tmp');
    expect(lackOf('minio', 3, 2)).toBeUndefined();
    expect(lackOf('minio', 2, 2)).toContain('220,200 inodes');
  });
});

describe('A run of all scenarios', () => {
  const heats = listHeats(createScenarios({ isQuick: false }), undefined);
  const planOn = (memoryGib: number, memoryInodes: number, diskGib: number) => {
    const [first, second] = choices(memoryGib, diskGib);
    const widen = (disk: Disk, inodes: number) => ({ ...disk, free: { ...disk.free, inodes } });
    const memory = widen(first!.disks.store, memoryInodes);
    const source = widen(second!.disks.store, 16_000_000);
    const offered = [memory, source] as const;
    const disks = { source, offered };
    return planBenches(heats, undefined, [
      { store: 'memory', disks: { ...disks, store: memory } },
      { store: 'disk', disks: { ...disks, store: source } },
    ]);
  };

  it('fits into 16 GiB of memory with 3,100,000 inodes and 48 GiB of disk', () => {
    const { benches, leftOut } = planOn(16, 3_100_000, 48);
    expect(leftOut).toEqual([]);
    expect(benches).toMatchObject([
      { server: 'versitygw', store: 'memory', heats: { length: heats.length - 1 } },
      { server: 'minio', store: 'memory', heats: [{ heat: { name: 's2s-10gb' } }] },
    ]);
  });

  it('fits into 20 GiB of disk without the object of 10 GB', () => {
    expect(planOn(16, 3_100_000, 20).leftOut.map(({ heat }) => heat.name)).toEqual(['s2s-10gb']);
  });
});
