import { describe, expect, it } from 'vitest';
import { DrayError } from '../../../engine/api/error.ts';
import type { TemporalOptions } from '../temporal-options.ts';
import { untilAnswered } from './until-answered.ts';

const temporal: TemporalOptions = { address: 'host:7233', namespace: 'default', queue: 'q', tls: false };
/** The error that the SDK throws while a server restarts. */
const refused = () => new Error('tonic::transport::Error(Transport, ConnectError("tcp connect error"))');
const reset = () => new Error('Failed to call GetSystemInfo: message: "transport error"');
const dropped = () => Object.assign(new Error('Poll failed'), { name: 'TransportError' });

/** Each call fails with the next error; after the last one it serves until it is stopped. */
function serving(...errors: readonly unknown[]) {
  const run = { served: 0, messages: [] as string[], pauses: [] as number[], stop: new AbortController() };
  const left = [...errors];
  const served = untilAnswered(
    async (onAnswer) => {
      if (left.length > 0) throw left.shift();
      run.served += 1;
      onAnswer();
    },
    {
      temporal,
      signal: run.stop.signal,
      onWait: (message) => run.messages.push(message),
      clock: {
        random: () => 1,
        sleep: async (pauseMs) => {
          run.pauses.push(pauseMs);
        },
      },
    },
  );
  return { run, served };
}

describe('a worker without Temporal', () => {
  it('tries again with longer pauses, and says so ever more rarely', async () => {
    const { run, served } = serving(
      refused(),
      reset(),
      dropped(),
      refused(),
      refused(),
      refused(),
      refused(),
    );
    await served;
    expect(run.served).toBe(1);
    expect(run.pauses).toEqual([500, 1000, 2000, 4000, 8000, 10_000, 10_000]);
    expect(run.messages).toHaveLength(3);
    expect(run.messages[0]).toContain('Temporal at host:7233 does not answer: ');
  });

  it('does not wait for what time does not mend', async () => {
    const { run, served } = serving(refused(), new DrayError('accessDenied', 'no'));
    await expect(served).rejects.toMatchObject({ code: 'accessDenied' });
    expect(run.pauses).toEqual([500]);
  });

  it('begins with short pauses again once Temporal has answered', async () => {
    const pauses: number[] = [];
    let calls = 0;
    await untilAnswered(
      async (onAnswer) => {
        calls += 1;
        if (calls === 3) onAnswer();
        if (calls < 4) throw refused();
      },
      {
        temporal,
        signal: new AbortController().signal,
        onWait: () => {},
        clock: { random: () => 1, sleep: async (pauseMs) => void pauses.push(pauseMs) },
      },
    );
    expect(pauses).toEqual([500, 1000, 500]);
  });

  it('ends without an error when it is stopped while it waits', async () => {
    const stop = new AbortController();
    await untilAnswered(() => Promise.reject(refused()), {
      temporal,
      signal: stop.signal,
      onWait: () => {},
      clock: {
        random: () => 1,
        sleep: async () => {
          stop.abort();
          throw new DrayError('aborted', 'Stopped on request.');
        },
      },
    });
    expect(stop.signal.aborted).toBe(true);
  });
});
