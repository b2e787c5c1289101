import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DrayError } from '../../api/error.ts';
import { systemClock } from '../../base/clock.ts';
import { noise, plainPlace, startTestPeer, TEST_TOKEN } from '../../peer/peer.fixture.ts';
import { createSandbox, type Sandbox, testContext } from '../session/job.fixture.ts';
import { deltaFile } from './delta-file.ts';

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
  ] as const)('by %s reports what would be sent, and writes nothing', async (mode, mostBytes) => {
    const reported = await run({ mode, isDryRun: true });
    expect(reported.result).toBe('wouldCopy');
    expect(reported.sentBytes).toBeLessThanOrEqual(mostBytes);
    expect(readFileSync(sandbox.path('old')).equals(OLD)).toBe(true);
    expect(readdirSync(sandbox.folder).sort()).toEqual(['new', 'old']);
    expect((await run({ mode })).sentBytes).toBe(reported.sentBytes);
    expect(readFileSync(sandbox.path('old')).equals(NEW)).toBe(true);
  });

  it('refuses what the real run would refuse', async () => {
    for (const isDryRun of [true, false])
      await expect(run({ mode: 'content', isInPlace: true, isDryRun })).rejects.toMatchObject({
        code: 'usage',
      });
  });
});

describe.each(['to', 'from'])('a delta %s a peer', (way) => {
  const open = async () => {
    const peer = await startTestPeer();
    const there = { place: plainPlace(peer.port(), 'file') };
    const here = { place: 'new' };
    peer.write('file', way === 'to' ? OLD : NEW);
    if (way === 'from') sandbox.write('new', OLD);
    const request =
      way === 'to' ? { source: here, destination: there } : { source: there, destination: here };
    return { peer, request, target: way === 'to' ? peer.path('file') : sandbox.path('new') };
  };
  const environment = { DRAY_TOKEN: TEST_TOKEN };

  it('counts each byte that it sends against the limit, and no other', async () => {
    const { peer, request, target } = await open();
    await using _ = peer;
    let takenBytes = 0;
    const throttle = {
      take: async (bytes: number) => {
        takenBytes += bytes;
      },
    };
    const { sentBytes } = await deltaFile(testContext(sandbox.folder, { environment, throttle }), request);
    expect(sentBytes).toBeGreaterThan(0);
    expect(takenBytes).toBe(sentBytes);
    expect(readFileSync(target).equals(NEW)).toBe(true);
  });

  it('respects the bandwidth limit', async () => {
    const { peer, request, target } = await open();
    await using _ = peer;
    const stopping = new AbortController();
    using sleep = vi.spyOn(systemClock, 'sleep').mockImplementation(async () => {
      stopping.abort();
      throw new DrayError('aborted', 'Stopped on request.');
    });
    const connection = { bandwidthBytesPerSecond: 1 };
    const context = testContext(sandbox.folder, { connection, environment, signal: stopping.signal });
    await expect(deltaFile(context, request)).rejects.toMatchObject({ code: 'aborted' });
    expect(sleep).toHaveBeenCalled();
    expect(readFileSync(target).equals(OLD)).toBe(true);
  });
});
