import { describe, expect, it } from 'vitest';
import { type DropProgress, type DroppedFile, sendDropped } from './drop-queue.ts';

describe('Dropped files', () => {
  it('are sent in full, at most four at a time', async () => {
    const sent: string[] = [];
    let underway = 0;
    let most = 0;
    const last = await sendDropped(walk(20), {
      send: async ({ path }, _body, { onBytes }) => {
        underway += 1;
        most = Math.max(most, underway);
        await Promise.resolve();
        onBytes(1);
        sent.push(path);
        underway -= 1;
      },
      onProgress: () => {},
      signal: new AbortController().signal,
    });
    expect(sent.sort()).toEqual(Array.from({ length: 20 }, (_, index) => `f${index}`).sort());
    expect(most).toBeLessThanOrEqual(4);
    expect(last).toEqual({
      filesDone: 20,
      bytesDone: 60,
      isOver: true,
      isStopped: false,
      filesFailed: 0,
      failures: [],
    });
  });

  it('continue when one of them is refused', async () => {
    const last = await sendDropped(walk(5), {
      send: async ({ path }) => {
        if (path === 'f2') throw new Error('No room.');
      },
      onProgress: () => {},
      signal: new AbortController().signal,
    });
    expect(last.filesDone).toBe(4);
    expect(last.failures).toEqual([{ path: 'f2', message: 'No room.' }]);
  });

  it('stop on request, and a stopped file does not count as failed', async () => {
    const control = new AbortController();
    const reported: DropProgress[] = [];
    const last = await sendDropped(walk(1_000), {
      send: async () => {
        control.abort();
        throw new Error('Stopped on request.');
      },
      onProgress: (progress) => reported.push(progress),
      signal: control.signal,
    });
    expect(last.filesDone).toBe(0);
    expect(last).toMatchObject({ isStopped: true, filesFailed: 0, failures: [] });
    expect(reported.at(-1)?.isOver).toBe(true);
  });

  it('send no file after the stop, even one that was just being found or opened', async () => {
    const control = new AbortController();
    const sent: string[] = [];
    async function* slowWalk(): AsyncGenerator<DroppedFile> {
      yield {
        place: '/',
        path: 'opened',
        open: async () => {
          control.abort();
          return new Blob(['abc']);
        },
      };
      // The folder was read on after the stop.
      while (!control.signal.aborted) await Promise.resolve();
      yield* walk(10);
    }
    const last = await sendDropped(slowWalk(), {
      send: async ({ path }) => void sent.push(path),
      onProgress: () => {},
      signal: control.signal,
    });
    expect(sent).toEqual([]);
    expect(last).toMatchObject({ isStopped: true, filesDone: 0, filesFailed: 0 });
  });
});

async function* walk(count: number): AsyncGenerator<DroppedFile> {
  for (let index = 0; index < count; index += 1)
    yield { place: '/', path: `f${index}`, open: async () => new Blob(['abc']) };
}
