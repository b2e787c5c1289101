import { describe, expect, it } from 'vitest';
import type { Command } from '../machines/measure.ts';
import { leaveOut, runScenario, type Track } from './run-scenario.ts';
import type { Entrant } from './scenario.ts';

const SCENARIO = { name: 'race', scenario: 'race', latencyMs: 0, title: 'A race', targets: [] };

/** A track on which each run takes the time of its command's first argument, and which logs all calls. */
function createTrack(stop = new AbortController()) {
  const log: string[] = [];
  const track: Track = {
    signal: stop.signal,
    watch: { reset: async () => {}, read: async () => ({ requests: null, cpuMs: 250, wire: null }) },
    meter: {
      seesResources: true,
      run: async ({ file, args }) => {
        stop.signal.throwIfAborted();
        log.push(file);
        return { wallMs: Number(args[0]), cpuMs: 1, peakRssBytes: 1, output: '' };
      },
    },
  };
  const entrant = (name: string, walls: readonly number[], more: Partial<Entrant> = {}): Entrant => {
    let round = 0;
    const command = (): Command => ({ file: name, args: [String(walls[round++] ?? 1)], environment: {} });
    return {
      name,
      kind: 'peer',
      prepare: async () => ({
        command: command(),
        check: async () => {},
        close: async () => void log.push(`${name} closed`),
      }),
      ...more,
    };
  };
  return { track, log, entrant };
}

const quietly = (runs: number) => ({ runs, say: () => {} });

describe('A scenario', () => {
  it('runs its entrants in turn and closes each run before the next', async () => {
    const { track, log, entrant } = createTrack();
    await runScenario(SCENARIO, [entrant('a', []), entrant('b', [])], track, quietly(1));
    expect(log).toEqual(['a', 'a closed', 'b', 'b closed', 'b', 'b closed', 'a', 'a closed']);
  });

  it('starts each round with another entrant', async () => {
    const { track, log, entrant } = createTrack();
    const absent = entrant('absent', [], { missing: 'it is not on the PATH' });
    const field = [entrant('a', []), absent, entrant('b', []), entrant('c', [])];
    await runScenario(SCENARIO, field, track, quietly(3));
    const order = log.filter((name) => !name.endsWith('closed')).join(' ');
    expect(order).toBe('a b c b c a c a b a b c');
  });

  it('that is left out has the reason, no entrants and no met target', () => {
    const target = { kind: 'peakRss', of: 'a', atMostBytes: 1 } as const;
    expect(leaveOut({ ...SCENARIO, targets: [target] }, 'no room')).toMatchObject({
      name: 'race',
      entrants: [],
      verdicts: [{ target, reached: null, isMet: false }],
      leftOut: 'no room',
    });
  });

  it('does not count the warm-up round', async () => {
    const { track, entrant } = createTrack();
    const result = await runScenario(SCENARIO, [entrant('a', [9_000, 10, 30, 20])], track, quietly(3));
    expect(result.entrants[0]?.outcome).toMatchObject({ wall: { least: 10, median: 20, most: 30 } });
  });

  it('keeps every run in its result, with the command and the time of day', async () => {
    const { track, entrant } = createTrack();
    const result = await runScenario(SCENARIO, [entrant('a', [9_000, 10, 30])], track, quietly(2));
    expect(result).toMatchObject({
      startedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      entrants: [
        {
          command: 'a 9000',
          outcome: {
            warmUp: { wallMs: 9_000, cpuMs: 1, peakRssBytes: 1, requests: null, serverCpuMs: 250 },
            runs: [{ wallMs: 10 }, { wallMs: 30 }],
          },
        },
      ],
    });
  });

  it('keeps the runs before a failed one', async () => {
    const { track, entrant } = createTrack();
    let round = 0;
    const failing = entrant('a', [], {
      prepare: async () => {
        round += 1;
        return {
          command: { file: 'a', args: [String(round)], environment: {} },
          check: async () => {
            if (round === 3) throw new Error('what arrived is not what was sent');
          },
          close: async () => {},
        };
      },
    });
    const { entrants } = await runScenario(SCENARIO, [failing], track, quietly(5));
    expect(entrants[0]?.outcome).toMatchObject({ state: 'failed', runs: [{ wallMs: 1 }, { wallMs: 2 }] });
  });

  it('has its own time limit for a run', async () => {
    const { track, entrant } = createTrack();
    const limits: (number | undefined)[] = [];
    const meter: Track['meter'] = {
      ...track.meter,
      run: (command, signal, limitMs) => {
        limits.push(limitMs);
        return track.meter.run(command, signal);
      },
    };
    await runScenario({ ...SCENARIO, limitMs: 5 }, [entrant('a', [])], { ...track, meter }, quietly(1));
    expect(limits).toEqual([5, 5]);
  });

  it('measures very slow works by their first run alone', async () => {
    const { track, log, entrant } = createTrack();
    const field = [entrant('slow', [60_000]), entrant('quick', [])];
    const result = await runScenario(SCENARIO, field, track, quietly(2));
    expect(log.filter((name) => name === 'slow')).toHaveLength(1);
    expect(log.filter((name) => name === 'quick')).toHaveLength(3);
    expect(result.entrants[0]?.outcome).toMatchObject({
      state: 'measured',
      wall: { median: 60_000 },
      runs: [{ wallMs: 60_000 }],
      warmUp: null,
    });
  });

  it('runs works of seconds less often: until five seconds are measured', async () => {
    const { track, entrant } = createTrack();
    const field = [entrant('a', [2_000, 2_000, 2_900, 200, 1]), entrant('b', [14_999, 6_000, 1])];
    const { entrants } = await runScenario(SCENARIO, field, track, quietly(5));
    expect(entrants.map(({ outcome }) => outcome)).toMatchObject([
      { warmUp: { wallMs: 2_000 }, runs: [{ wallMs: 2_000 }, { wallMs: 2_900 }, { wallMs: 200 }] },
      { warmUp: { wallMs: 14_999 }, runs: [{ wallMs: 6_000 }] },
    ]);
  });

  it('continues without a tool that fails, is missing, or copies wrong data', async () => {
    const { track, log, entrant } = createTrack();
    const fails = () => Promise.reject(new Error('no such bucket'));
    const field = [
      entrant('never set up', [], { setUp: fails }),
      entrant('unprepared', [], { prepare: fails }),
      entrant('absent', [], { missing: 'it is not on the PATH' }),
      entrant('wrong', [], {
        prepare: async () => ({
          command: { file: 'wrong', args: ['1'], environment: {} },
          check: () => Promise.reject(new Error('what arrived is not what was sent')),
          close: async () => void log.push('wrong closed'),
        }),
      }),
      entrant('fine', []),
    ];
    const { entrants } = await runScenario(SCENARIO, field, track, quietly(2));
    expect(entrants.map(({ outcome }) => outcome)).toMatchObject([
      { state: 'failed', reason: 'preparing it failed: no such bucket' },
      { state: 'failed', reason: 'preparing it failed: no such bucket' },
      { state: 'missing', reason: 'it is not on the PATH' },
      { state: 'failed', reason: 'what arrived is not what was sent' },
      { state: 'measured' },
    ]);
    expect(log.filter((entry) => entry.startsWith('wrong'))).toEqual(['wrong', 'wrong closed']);
  });

  it('ends when the user stops it, and still closes the run', async () => {
    const stop = new AbortController();
    const { track, log, entrant } = createTrack(stop);
    const running = runScenario(SCENARIO, [entrant('a', []), entrant('b', [])], track, {
      runs: 5,
      say: () => stop.abort(new Error('enough')),
    });
    await expect(running).rejects.toThrow('enough');
    expect(log).toEqual(['a', 'a closed', 'b closed']);
  });
});
