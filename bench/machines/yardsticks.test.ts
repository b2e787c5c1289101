import { describe, expect, it } from 'vitest';
import { findMissingYardsticks } from './yardsticks.ts';

const scope = (aptPackage: string, isThere: () => Promise<boolean>) => ({
  measures: 'the phase of the moon',
  lack: `there is no ${aptPackage}`,
  aptPackage,
  isThere,
});

describe('A measuring tool', () => {
  it('is searched again after its installation, and named with its package if missing', async () => {
    const installed: string[] = [];
    const yardsticks = [
      scope('eye', async () => true),
      scope('lens', async () => installed.includes('lens')),
      scope('observatory', async () => false),
    ];
    const missing = await findMissingYardsticks(yardsticks, async (name, find) => {
      const found = await find();
      if (found !== undefined) return found;
      installed.push(name);
      return find();
    });
    expect(installed).toEqual(['lens', 'observatory']);
    expect(missing).toEqual(['the phase of the moon: there is no observatory; apt-get install observatory']);
  });
});
