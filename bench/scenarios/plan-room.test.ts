import { describe, expect, it } from 'vitest';
import type { Holding, Needs } from './holding.ts';
import { type Disks, planRoom } from './plan-room.ts';
import type { Disk, Room } from './room.ts';

const GIB = 1024 ** 3;
/** The plan keeps half a GiB and 20,000 inodes free besides. */
const room = (gib: number, inodes = 0): Room => ({ bytes: gib * GIB, inodes });
const held = (name: string, gib: number, at: Holding['at'] = 'store'): Holding => ({
  name,
  at,
  how: 'made',
  room: room(gib, 1_000),
});
const disk = (path: string, gib: number, inodes = Number.POSITIVE_INFINITY): Disk => ({
  path,
  device: path.length,
  free: room(gib, inodes),
});
const disksOf = (source: Disk, store: Disk): Disks => ({ source, store, offered: [store, source] });
const WIDE = disksOf(disk('/tmp', 100), disk('/memory', 100));

const names = (plans: ReturnType<typeof planRoom>) => plans.map(({ keep }) => [...keep].sort().join(''));

describe('A plan of kept holdings', () => {
  it('keeps a holding from its making to the last heat that names it', () => {
    const heats: readonly Needs[] = [
      { holdings: [held('a', 1), held('b', 1)] },
      { holdings: [held('c', 1)] },
      { holdings: [held('a', 1)] },
    ];
    expect(names(planRoom(heats, WIDE))).toEqual(['ab', 'ac', 'a']);
  });

  it('drops holdings of other heats where there is no room for both', () => {
    const heats: readonly Needs[] = [
      { holdings: [held('a', 6)] },
      { holdings: [held('b', 6)] },
      { holdings: [held('a', 6)] },
    ];
    const plans = planRoom(heats, disksOf(disk('/tmp', 100), disk('/memory', 10)));
    expect(names(plans)).toEqual(['a', 'b', 'a']);
    expect(plans.map(({ lack }) => lack)).toEqual([undefined, undefined, undefined]);
  });
});

describe('A heat', () => {
  it('too large for the disk is reported with the disk, and its holdings are dropped', () => {
    const heats: readonly Needs[] = [
      { holdings: [held('a', 1)] },
      { holdings: [held('a', 1), held('b', 9)], store: room(1) },
    ];
    const [first, second] = planRoom(heats, disksOf(disk('/tmp', 100), disk('/memory', 10)));
    expect(first).toEqual({ keep: new Set(['a']) });
    expect(second?.lack).toBe('/memory has 10.0 GiB free, and 11.5 GiB and 22,000 inodes may be needed');
  });

  it('is refused for lack of inodes as well', () => {
    const disks = disksOf(disk('/tmp', 100), disk('/memory', 10, 25_000));
    expect(planRoom([{ holdings: [], store: room(1, 5_000) }], disks)[0]?.lack).toBeUndefined();
    const [plan] = planRoom([{ holdings: [], store: room(1, 5_001) }], disks);
    expect(plan?.lack).toContain('25,000 inodes free, and 1.5 GiB and 25,001 inodes may be needed');
  });

  it('takes all that lies on one disk from one room', () => {
    const one = disk('/tmp', 10);
    const needs: Needs = { holdings: [held('a', 3, 'source')], source: room(2), store: room(4) };
    expect(planRoom([needs], disksOf(one, disk('/memory', 10)))[0]?.lack).toBeUndefined();
    expect(planRoom([needs], disksOf(one, one))[0]?.lack).toBeUndefined();
    expect(planRoom([{ ...needs, offered: room(1) }], disksOf(one, one))[0]?.lack).toContain('/tmp');
  });

  it('gets folders where there is room, first in memory', () => {
    const disks = disksOf(disk('/tmp', 20), disk('/memory', 10));
    const lackOf = (needs: Omit<Needs, 'holdings'>) => planRoom([{ holdings: [], ...needs }], disks)[0]?.lack;
    expect(lackOf({ offered: room(9), source: room(15) })).toBeUndefined();
    expect(lackOf({ offered: room(12), source: room(5) })).toBeUndefined();
    expect(lackOf({ offered: room(12), source: room(15) })).toContain('/tmp has 20.0 GiB');
  });

  it('that names a holding twice needs it once', () => {
    const twice: Needs = { holdings: [held('a', 6), held('a', 6)] };
    expect(planRoom([twice], disksOf(disk('/tmp', 1), disk('/memory', 10)))[0]?.lack).toBeUndefined();
  });
});
