import { closeSync, lstatSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { loadSetMtime, type SetMtime, setMtimeRounded } from './set-mtime.ts';

const folder = mkdtempSync(`${tmpdir()}/dray-mtime-`);
afterAll(() => rmSync(folder, { recursive: true }));

function mtimeAfter(set: SetMtime, mtimeNs: bigint): bigint {
  const file = `${folder}/f`;
  const fd = openSync(file, 'w');
  try {
    set(fd, mtimeNs);
  } finally {
    closeSync(fd);
  }
  return lstatSync(file, { bigint: true }).mtimeNs;
}

describe('set-mtime', () => {
  it('keeps every nanosecond, before 1970 too, on systems that can', async () => {
    const set = await loadSetMtime();
    const isExact = set !== setMtimeRounded;
    expect(isExact).toBe(process.platform === 'linux' || process.platform === 'darwin');
    const toleranceNs = isExact ? 0n : 1000n;
    // ext4 with 256-byte inodes holds the years 1901 to 2446.
    fc.assert(
      fc.property(
        fc.bigInt({ min: -2_000_000_000n * 10n ** 9n, max: 10_000_000_000n * 10n ** 9n }),
        (mtimeNs) => {
          const distance = mtimeAfter(set, mtimeNs) - mtimeNs;
          expect(distance < 0n ? -distance : distance).toBeLessThanOrEqual(toleranceNs);
        },
      ),
    );
  });

  it('comes within a microsecond where only Node can be asked', () => {
    const mtimeNs = 1_712_345_678_123_456_789n;
    const distance = mtimeAfter(setMtimeRounded, mtimeNs) - mtimeNs;
    expect(distance < 0n ? -distance : distance).toBeLessThan(1000n);
  });

  it('throws for a descriptor that is not open', async () => {
    const set = await loadSetMtime();
    expect(() => set(1_000_000, 0n)).toThrow('EBADF');
  });
});
