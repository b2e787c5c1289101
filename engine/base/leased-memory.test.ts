import { describe, expect, it } from 'vitest';
import { Budget } from './budget.ts';
import { createLeasedMemory } from './leased-memory.ts';

const KIB = 1024;
const { signal } = new AbortController();

const START_BYTES = 4096;

function memoryOf(budget: Budget, largestBytes: number) {
  const open = (length: number) => ({
    buffer: new SharedArrayBuffer(START_BYTES + length),
    start: START_BYTES,
  });
  return createLeasedMemory({ budget, largestBytes, open });
}

describe('leased memory', () => {
  it('gives at least the requested size within the budget and takes it back once', async () => {
    const budget = new Budget(1024 * KIB);
    const memory = memoryOf(budget, 1024 * KIB);
    const lease = await memory.take(100 * KIB, signal);
    expect(lease.bytes.length).toBe(128 * KIB);
    expect(lease.bytes.byteOffset).toBe(lease.span.offset);
    expect(lease.span.offset).toBeGreaterThanOrEqual(START_BYTES);
    expect(budget.used).toBe(128 * KIB);
    lease.release();
    lease.release();
    expect(budget.used).toBe(0);
  });

  it('gives a span larger than the budget when nothing else is out', async () => {
    const memory = memoryOf(new Budget(1), 512 * KIB);
    const lease = await memory.take(512 * KIB, signal);
    expect(lease.bytes.length).toBe(512 * KIB);
    lease.release();
    await expect(memory.take(513 * KIB, signal)).rejects.toMatchObject({ code: 'unsupported' });
  });

  it('waits while every free span is too small', async () => {
    const budget = new Budget(1024 * KIB);
    const memory = memoryOf(budget, 1024 * KIB);
    const leases = await Promise.all(Array.from({ length: 16 }, () => memory.take(64 * KIB, signal)));
    budget.setLimit(4096 * KIB);
    for (let more = 0; more < 8; more += 1) leases.push(await memory.take(64 * KIB, signal));
    for (const [at, lease] of leases.entries()) if (at % 2 === 0) lease.release();
    let isGiven = false;
    const large = memory.take(256 * KIB, signal).then((lease) => {
      isGiven = true;
      return lease;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isGiven).toBe(false);
    leases[1]!.release();
    leases[3]!.release();
    (await large).release();
    for (const lease of leases) lease.release();
    expect(budget.used).toBe(0);
  });

  it('releases its permit when it is aborted while waiting', async () => {
    const budget = new Budget(256 * KIB);
    const memory = memoryOf(budget, 256 * KIB);
    budget.setLimit(4096 * KIB);
    const lease = await memory.take(192 * KIB, signal);
    const controller = new AbortController();
    const waiting = memory.take(256 * KIB, controller.signal);
    setImmediate(() => controller.abort());
    await expect(waiting).rejects.toMatchObject({ code: 'aborted' });
    lease.release();
    expect(budget.used).toBe(0);
  });
});
