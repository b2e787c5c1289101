import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noise } from '../peer/peer-fixture.ts';
import { deltaFile } from './delta-file.ts';
import { createSandbox, type Sandbox, testContext } from './job-fixture.ts';

const MIB = 1024 * 1024;
const OLD = noise(3 * MIB, 1);
const NEW = Buffer.concat([Buffer.from('inserted'), OLD]);

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
  sandbox.write('new', NEW);
  sandbox.write('old', OLD);
});
afterEach(() => sandbox[Symbol.dispose]());

const run = (more: object) =>
  deltaFile(testContext(sandbox.folder), {
    source: { place: 'new' },
    destination: { place: 'old' },
    ...more,
  });

describe('a dry run of a delta', () => {
  it.each([
    ['blocks', NEW.length],
    ['whole', NEW.length],
    ['content', MIB],
  ] as const)('by %s tells what would be sent, and writes nothing', async (mode, mostBytes) => {
    const told = await run({ mode, isDryRun: true });
    expect(told.result).toBe('wouldCopy');
    expect(told.sentBytes).toBeLessThanOrEqual(mostBytes);
    expect(readFileSync(sandbox.path('old')).equals(OLD)).toBe(true);
    expect(readdirSync(sandbox.folder).sort()).toEqual(['new', 'old']);
    expect((await run({ mode })).sentBytes).toBe(told.sentBytes);
    expect(readFileSync(sandbox.path('old')).equals(NEW)).toBe(true);
  });

  it('refuses what the run itself would refuse', async () => {
    for (const isDryRun of [true, false])
      await expect(run({ mode: 'content', isInPlace: true, isDryRun })).rejects.toMatchObject({
        code: 'usage',
      });
  });
});
