import { describe, expect, it } from 'vitest';
import { addFleetCounts, NO_FLEET_COUNTS } from './fleet.ts';

describe('The counts of a fleet', () => {
  it('are sums, also by reason, and nothing added to them changes nothing', () => {
    const one = { ...NO_FLEET_COUNTS, files: 2, failed: 1, failedBy: { io: 1 } };
    const other = { ...NO_FLEET_COUNTS, files: 3, failed: 2, failedBy: { io: 1, notFound: 1 } };
    expect(addFleetCounts(one, other)).toEqual({
      ...NO_FLEET_COUNTS,
      files: 5,
      failed: 3,
      failedBy: { io: 2, notFound: 1 },
    });
    expect(addFleetCounts(one, NO_FLEET_COUNTS)).toEqual(one);
    expect(addFleetCounts(NO_FLEET_COUNTS, one)).toEqual(one);
  });
});
