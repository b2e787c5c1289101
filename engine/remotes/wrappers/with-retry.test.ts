import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DrayError, type ErrorCode } from '../../api/error.ts';
import type { Clock } from '../../base/clock.ts';
import { createRetryBudget } from '../../base/retry.ts';
import { MEMORY_STORE } from '../contract/abilities.fixture.ts';
import { describeObjectStoreContract } from '../contract/suite.fixture.ts';
import type { EntriesOptions, FileCalls } from '../file-calls.ts';
import { createMemoryStore } from '../memory/memory-store.fixture.ts';
import type { ObjectStore } from '../object-store.ts';
import { createFaults, withFaults } from './with-faults.fixture.ts';
import { createMeter, withMeter } from './with-meter.ts';
import { type RetryOptions, withRetry } from './with-retry.ts';
import { createThrottle, withThrottle } from './with-throttle.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const passing = (code: ErrorCode = 'unreachable') =>
  new DrayError(code, 'The wire was cut.', { retry: code === 'slowDown' ? 'backoff' : 'retry' });

/** Time that passes only by sleeping; `random` just below its limit gives the longest pauses. */
function fakeClock(): Clock & { readonly pausesMs: number[] } {
  const pausesMs: number[] = [];
  let passedMs = 0;
  return {
    pausesMs,
    nowMs: () => passedMs,
    monotonicMs: () => passedMs,
    random: () => 0.999999,
    sleep: async (pauseMs) => {
      pausesMs.push(pauseMs);
      passedMs += pauseMs;
    },
  };
}

function setUp(options: Partial<RetryOptions> = {}) {
  const clock = fakeClock();
  const memory = createMemoryStore();
  const faults = createFaults();
  const store = withRetry(withFaults(memory, faults), { clock, ...options });
  return { clock, memory, faults, store };
}

const openWrapped = async () => {
  const clock = fakeClock();
  const metered = withMeter(withFaults(createMemoryStore(), createFaults()), createMeter('local'));
  const store = withRetry(withThrottle(metered, createThrottle({ bytesPerSecond: () => 1e6, clock })), {
    clock,
  });
  return { store, close: () => store.close() };
};

describeObjectStoreContract('A store behind retry, throttle, meter and faults', openWrapped, MEMORY_STORE);

/**
 * A store of another machine, whose every connection breaks after this many pages. It reports unreadable
 * entries at the end.
 */
function breakingFiles(keys: readonly string[], pagesMax: number) {
  const asked: (string | undefined)[] = [];
  const entries: FileCalls['entries'] = async function* ({ after = '', onPart, onProblem }) {
    asked.push(after);
    const from = keys.filter((key) => key > after);
    for (const [at, key] of from.entries()) {
      if (at === pagesMax + asked.length) throw passing();
      yield [{ key, sizeBytes: 1, modifiedMs: 0, etag: '', mode: 0 }];
    }
    onProblem?.(`seen from "${after}"`);
    onPart?.({ folder: after, below: '', only: null });
  };
  return { asked, files: { entries, folders: {} } as FileCalls };
}

describe('A listing of files that breaks', () => {
  const keys = ['a', 'b', 'c', 'd', 'e'];
  const listed = async (more: Partial<EntriesOptions> = {}) => {
    const { asked, files } = breakingFiles(keys, 0);
    const store = withRetry({ ...createMemoryStore(), files }, { clock: fakeClock() });
    const received: string[] = [];
    for await (const page of store.files!.entries(more)) received.push(...page.map(({ key }) => key));
    return { asked, received };
  };

  it('continues after the last received entry', async () => {
    const { asked, received } = await listed();
    expect(received).toEqual(keys);
    expect(asked).toEqual(['', 'a', 'c']);
  });

  it('starts again for a caller that needs problems, and repeats no entry', async () => {
    const problems: string[] = [];
    const { received } = await listed({ onProblem: (message) => problems.push(message) });
    expect(received).toEqual(keys);
    expect(problems).toEqual(['seen from ""']);
  });

  it('starts again for a caller that needs the parts of datasets', async () => {
    const parts: string[] = [];
    const { received } = await listed({ onPart: ({ folder }) => parts.push(folder) });
    expect(received).toEqual(keys);
    expect(parts).toEqual(['']);
  });
});

describe('The retry wrapper', () => {
  it('retries temporary failures, with pauses that double up to their limit', async () => {
    const { clock, faults, store } = setUp({ baseDelayMs: 100, maxDelayMs: 500, attemptsMax: 6 });
    faults.add('head').errorInstead(passing()).repeat(5);
    expect(await store.head('absent')).toBeUndefined();
    faults.verifyAllExercised();
    expect(clock.pausesMs.map(Math.round)).toEqual([100, 200, 400, 500, 500]);
  });

  it('pauses longer if the store asks for fewer requests', async () => {
    const { clock, faults, store } = setUp({ baseDelayMs: 100 });
    faults.add('list').errorInstead(passing('slowDown'));
    await store.list({ prefix: '' });
    expect(clock.pausesMs.map(Math.round)).toEqual([400]);
  });

  it('pauses for at least half of that, so that every call survives an outage of six seconds', async () => {
    const { clock, faults, store } = setUp();
    clock.random = () => 0;
    faults.add('head').errorInstead(passing()).repeat(7);
    expect(await store.head('absent')).toBeUndefined();
    expect(clock.pausesMs.reduce((sum, pauseMs) => sum + pauseMs)).toBeGreaterThan(6_000);
  });

  it('lets 64 calls that fail together make all their attempts', async () => {
    const { faults, store } = setUp();
    faults
      .add('head')
      .errorInstead(passing())
      .repeat(64 * 7);
    const calls = Array.from({ length: 64 }, () => store.head('absent'));
    expect(await Promise.all(calls)).toEqual(calls.map(() => undefined));
    faults.verifyAllExercised();
  });

  it('gives up after the last attempt with the last error', async () => {
    const { clock, faults, store } = setUp({ attemptsMax: 3 });
    faults.add('read').errorInstead(passing('remoteFailed')).repeat(3);
    await expect(store.read('a', { maxBytes: 1 })).rejects.toMatchObject({ code: 'remoteFailed' });
    faults.verifyAllExercised();
    expect(clock.pausesMs).toHaveLength(2);
  });

  it('does not retry calls that cannot succeed', async () => {
    const { clock, faults, store } = setUp();
    for (const method of ['head', 'put', 'delete', 'copy'] as const) {
      faults.add(method).errorInstead(new DrayError('accessDenied', 'No.'));
    }
    faults.add('list').errorInstead(new Error('not one of ours'));
    const calls = [
      () => store.head('a'),
      () => store.put('a', bytes('x')),
      () => store.delete(['a']),
      () => store.copy('a', 'b'),
      () => store.list({ prefix: '' }),
    ];
    for (const call of calls) await expect(call()).rejects.toThrow();
    faults.verifyAllExercised();
    expect(clock.pausesMs).toEqual([]);
  });

  it('does not retry a stream, whose source is used up', async () => {
    const { memory, faults, store } = setUp();
    faults.add('putStream').errorInstead(passing());
    async function* source() {
      yield bytes('x');
    }
    await expect(store.putStream('a', source())).rejects.toMatchObject({ code: 'unreachable' });
    expect(await memory.head('a')).toBeUndefined();
  });

  it('passes on a body that breaks half-way, whose reader starts again', async () => {
    const { memory, faults, store } = setUp();
    await memory.put('a', bytes('abcdef'));
    faults.add('get').truncateBody(2, passing());
    const drain = async () => {
      let got = '';
      for await (const piece of (await store.get('a'))!.body) got += new TextDecoder().decode(piece);
      return got;
    };
    await expect(drain()).rejects.toMatchObject({ code: 'unreachable', retry: 'retry' });
    expect(await drain()).toBe('abcdef');
  });

  it('stops retrying when the shared budget is used up, and retries again once it has filled', async () => {
    const { faults, store } = setUp({ attemptsMax: 100, budget: createRetryBudget(20) });
    faults.add('head').errorInstead(passing()).repeat(5);
    await expect(store.head('a')).rejects.toMatchObject({ code: 'unreachable' });
    faults.verifyAllExercised();
    faults.add('head').errorInstead(passing());
    await expect(store.head('a')).rejects.toMatchObject({ code: 'unreachable' });
    for (let success = 0; success < 5; success += 1) await store.head('a');
    faults.add('head').errorInstead(passing());
    expect(await store.head('a')).toBeUndefined();
    faults.verifyAllExercised();
  });

  it('stops during a pause when the signal fires', async () => {
    const control = new AbortController();
    const clock = { ...fakeClock(), sleep: async () => control.abort() };
    const { faults, store } = setUp({ clock });
    faults.add('head').errorInstead(passing());
    await expect(store.head('a', { signal: control.signal })).rejects.toMatchObject({ code: 'aborted' });
  });
});

describe('A conditional write whose answer was lost', () => {
  const conditions = async (memory: ObjectStore) => {
    const before = await memory.put('ref', bytes('before'));
    return [
      ['new', { absent: true as const }],
      ['ref', { etag: before.written ? before.etag : '' }],
    ] as const;
  };
  const lost = (faults: ReturnType<typeof createFaults>) =>
    faults.add('put').after(() => {
      throw passing();
    });

  it('is recognised as our own when it is met again', async () => {
    const { memory, faults, store } = setUp();
    for (const [key, condition] of await conditions(memory)) {
      lost(faults);
      const outcome = await store.put(key, bytes('ours'), { condition });
      expect(outcome).toEqual({ written: true, etag: (await memory.head(key))!.etag });
      faults.verifyAllExercised();
    }
  });

  it("has lost if another writer's object of the same length is there", async () => {
    const { memory, faults, store } = setUp();
    for (const [key, condition] of await conditions(memory)) {
      faults.add('put').before(async () => {
        await memory.put(key, bytes('them'));
        throw passing();
      });
      expect(await store.put(key, bytes('ours'), { condition })).toEqual({ written: false });
      faults.verifyAllExercised();
    }
  });

  it('is not checked if nothing failed before, or if the store certainly refused it', async () => {
    const { memory, faults, store } = setUp();
    await memory.put('taken', bytes('ours'));
    const condition = { absent: true } as const;
    expect(await store.put('taken', bytes('ours'), { condition })).toEqual({ written: false });
    faults.add('put').errorInstead(passing('slowDown'));
    expect(await store.put('taken', bytes('ours'), { condition })).toEqual({ written: false });
    faults.verifyAllExercised();
  });

  it('never has two winners and never a lost one, whichever answers get lost', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.constantFrom('instead', 'after'), { maxLength: 3 }), {
          minLength: 2,
          maxLength: 5,
        }),
        async (failuresOfWriters) => {
          const memory = createMemoryStore();
          const outcomes = await Promise.all(
            failuresOfWriters.map(async (failures, writer) => {
              const faults = createFaults();
              for (const failure of failures) {
                if (failure === 'instead') faults.add('put').errorInstead(passing());
                else lost(faults);
              }
              const store = withRetry(withFaults(memory, faults), { clock: fakeClock() });
              return store.put('ref', bytes(`writer ${writer}`), { condition: { absent: true } });
            }),
          );
          const winners = outcomes.flatMap((outcome, writer) => (outcome.written ? [writer] : []));
          const stored = await memory.read('ref', { maxBytes: 100 });
          expect(winners).toEqual([Number(new TextDecoder().decode(stored!.bytes).split(' ')[1])]);
        },
      ),
    );
  });
});

describe('A copy onto itself whose answer was lost', () => {
  const begin = async () => {
    const { faults, memory, store } = setUp();
    await memory.put('a', bytes('content'), { metadata: { mtime: '1' } });
    const { etag, sizeBytes } = (await memory.head('a'))!;
    const touch = (to = 'a') =>
      store.copy('a', to, { ifMatch: etag, sizeBytes, description: { metadata: { mtime: '2' } } });
    return { faults, memory, touch };
  };
  const lose = () => {
    throw passing();
  };

  it('is recognised as our own when its retry meets the etag that it gave', async () => {
    const { faults, memory, touch } = await begin();
    faults.add('copy').after(lose);
    const outcome = await touch();
    const info = await memory.head('a');
    expect(outcome).toEqual({ written: true, etag: info!.etag });
    expect(info).toMatchObject({ metadata: { mtime: '2' } });
    faults.verifyAllExercised();
  });

  it.each([
    ['content', { mtime: '3' }],
    ['content', undefined],
    ['another', { mtime: '2', size: 'as it was' }],
    ['longer than that', { mtime: '2' }],
  ])("is a conflict if another writer's object is there: %s, %o", async (content, metadata) => {
    const { faults, memory, touch } = await begin();
    faults.add('copy').before(async () => {
      await memory.put('a', bytes(content), metadata ? { metadata } : {});
      lose();
    });
    await expect(touch()).rejects.toMatchObject({ code: 'conflict' });
    faults.verifyAllExercised();
  });

  it('is a conflict if nothing failed before, or another key was copied to', async () => {
    const { faults, memory, touch } = await begin();
    await memory.put('a', bytes('content'), { metadata: { mtime: '2' } });
    await expect(touch()).rejects.toMatchObject({ code: 'conflict' });
    faults.add('copy').errorInstead(passing());
    await expect(touch('b')).rejects.toMatchObject({ code: 'conflict' });
    faults.verifyAllExercised();
  });
});

describe('A completed upload whose answer was lost', () => {
  it('is recognised as our own when its retry finds no upload', async () => {
    const { memory, faults, store } = setUp();
    const upload = { key: 'big', uploadId: await store.multipart!.create('big') };
    const part = await store.multipart!.uploadPart(upload, 1, bytes('part'));
    faults.add('complete').after(() => {
      throw passing();
    });
    const outcome = await store.multipart!.complete(upload, [part]);
    expect(outcome).toEqual({ written: true, etag: (await memory.head('big'))!.etag });
    faults.verifyAllExercised();
  });

  it('is an error if the upload was aborted meanwhile', async () => {
    const { memory, faults, store } = setUp();
    const upload = { key: 'big', uploadId: await store.multipart!.create('big') };
    const part = await store.multipart!.uploadPart(upload, 1, bytes('part'));
    faults.add('complete').before(async () => {
      await memory.multipart!.abort(upload);
      throw passing();
    });
    await expect(store.multipart!.complete(upload, [part])).rejects.toMatchObject({ code: 'notFound' });
  });
});
