import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../engine/base/clock.ts';
import { initWorkspace } from '../../engine/jobs/remotes/init.ts';
import { createSandbox, type Sandbox } from '../../engine/jobs/session/job.fixture.ts';
import { type DrayEvent, openRepository, type Repository } from './dray.ts';
import { contextOf } from './library-context.ts';

const MIB = 1024 * 1024;

let sandbox: Sandbox;
let environment: Record<string, string>;
let repository: Repository;
let branch: string;
beforeAll(async () => {
  sandbox = createSandbox();
  environment = { DRAY_CACHE: sandbox.path('cache'), DRAY_CONFIG: sandbox.path('config.json') };
  const directory = sandbox.path('work', '.');
  await initWorkspace(contextOf({ environment, directory }), { remoteUrl: sandbox.path('store') });
  repository = await openRepository(sandbox.path('store'), { environment });
});
afterAll(async () => {
  await repository.close();
  sandbox[Symbol.dispose]();
});
beforeEach(({ task }) => {
  branch = `of-${task.id}`;
});

const commit = () => repository.commit(branch);

async function read(path: string): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of repository.read(branch, path)) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

async function paths(): Promise<string[]> {
  const found: string[] = [];
  for await (const { path } of repository.list(branch, { recursive: true })) found.push(path);
  return found;
}

describe('a stream', () => {
  it('of text is stored as UTF-8, whether its size is known or not', async () => {
    await commit()
      .put('sized', Readable.from(['gr', 'ün']), { sizeBytes: 5 })
      .put('unsized', Readable.from(['gr', 'ün']))
      .put('web', new Response('grün').body!)
      .publish();
    for (const path of ['sized', 'unsized', 'web']) expect(await read(path)).toBe('grün');
  });

  it('may use one piece of memory again', async () => {
    async function* reusing() {
      const memory = Buffer.alloc(2);
      for (const text of ['aa', 'bb', 'cc']) {
        memory.write(text);
        yield memory;
      }
    }
    await commit().put('file', reusing()).publish();
    expect(await read('file')).toBe('aabbcc');
  });

  it('with numbers that are no bytes is refused', async () => {
    async function* numbers() {
      yield new Float32Array([300]) as unknown as Uint8Array;
    }
    const publishing = commit().put('file', numbers(), { sizeBytes: 1 }).publish();
    await expect(publishing).rejects.toMatchObject({ code: 'usage', data: { path: 'file' } });
  });

  it('of which something else reads a part is refused', async () => {
    const stream = Readable.from(['a', 'b']);
    const changes = commit().put('first', stream);
    expect(() => changes.put('second', stream)).toThrow(expect.objectContaining({ code: 'usage' }));
    await changes.publish();
    expect(await paths()).toEqual(['first']);
    const begun = Readable.from(['a', 'b']);
    for await (const _ of begun.iterator({ destroyOnReturn: false })) break;
    expect(() => commit().put('rest', begun)).toThrow(expect.objectContaining({ code: 'usage' }));
    const web = new Response('ab').body!;
    for await (const _ of web.values({ preventCancel: true })) break;
    expect(() => commit().put('rest', web)).toThrow(expect.objectContaining({ code: 'usage' }));
  });

  it('may be opened later by a function, which opens a new one each time', async () => {
    await commit()
      .put('file', async () => Readable.from(['later']))
      .publish();
    expect(await read('file')).toBe('later');
    const [ended, nothing] = [Readable.from(['a']), undefined as unknown as Readable];
    for await (const _ of ended);
    for (const opened of [ended, nothing]) {
      const publishing = commit()
        .put('other', () => opened)
        .publish();
      await expect(publishing).rejects.toMatchObject({ code: 'usage', data: { path: 'other' } });
    }
  });

  it('needs no size, however long it is', async () => {
    const piece = Buffer.alloc(MIB, 'long ');
    async function* long() {
      for (let at = 0; at < 66; at += 1) yield piece;
    }
    await commit().put('long', long()).publish();
    expect(await repository.stat(branch, 'long')).toMatchObject({ sizeBytes: 66 * MIB });
    let [sizeBytes, isSame, largest] = [0, true, 0];
    for await (const bytes of repository.read(branch, 'long')) {
      isSame &&= bytes.every((byte, at) => byte === piece[(sizeBytes + at) % MIB]);
      sizeBytes += bytes.length;
      largest = Math.max(largest, bytes.length);
    }
    expect({ sizeBytes, isSame }).toEqual({ sizeBytes: 66 * MIB, isSame: true });
    expect(largest).toBeLessThanOrEqual(4 * MIB);
  });

  it('is opened by a function when its turn comes', async () => {
    const [opened, ended] = [new Set<number>(), new Set<number>()];
    let openMax = 0;
    const changes = commit();
    for (let at = 0; at < 100; at += 1)
      changes.put(`${at}`, async function* () {
        opened.add(at);
        openMax = Math.max(openMax, opened.size - ended.size);
        yield `content ${at}`;
        ended.add(at);
      });
    expect(opened.size).toBe(0);
    await changes.publish();
    expect(ended.size).toBe(100);
    expect(openMax).toBeLessThanOrEqual(8);
    expect(await read('42')).toBe('content 42');
  });
});

describe('a failure', () => {
  it('of one stream stops the others, and nothing is published', async () => {
    const cause = new TypeError('the source broke');
    async function* broken() {
      yield 'a part';
      throw cause;
    }
    let isStopped = false;
    async function* endless() {
      try {
        for (;;) yield Buffer.alloc(MIB);
      } finally {
        isStopped = true;
      }
    }
    const waiting = Array.from({ length: 20 }, () => new Readable({ read() {} }));
    const changes = commit().put('endless', endless()).put('broken', broken());
    for (const [at, stream] of waiting.entries()) changes.put(`waiting-${at}`, stream);
    await expect(changes.publish()).rejects.toMatchObject({ code: 'io', cause, data: { path: 'broken' } });
    expect(isStopped).toBe(true);
    expect(waiting.filter(({ destroyed }) => !destroyed)).toEqual([]);
    await expect(repository.resolve(branch)).rejects.toMatchObject({ code: 'notFound' });
  });

  it('of a stream before its turn ends only the commit', async () => {
    const publishing = commit()
      .put('file', createReadStream(sandbox.path('absent')))
      .publish();
    await expect(publishing).rejects.toMatchObject({ code: 'io' });
  });

  it('does not let the rest of a stream be published later as the whole', async () => {
    async function* once() {
      yield 'all';
    }
    async function* broken() {
      yield await Promise.reject(new Error('broken'));
    }
    const changes = commit().put('good', once()).put('broken', broken());
    await expect(changes.publish()).rejects.toMatchObject({ code: 'io' });
    await expect(changes.publish()).rejects.toMatchObject({ code: 'usage' });
    expect(() => changes.put('more', '')).toThrow(expect.objectContaining({ code: 'usage' }));
  });

  it.each(['the repository', 'the call'])('by the signal of %s does not wait for a stream', async (whose) => {
    const stopping = new AbortController();
    const { signal } = stopping;
    const isCall = whose === 'the call';
    const options = { environment, ...(isCall ? {} : { signal }) };
    await using opened = await openRepository(sandbox.path('store'), options);
    const silent = new Readable({ read: () => stopping.abort() });
    const publishing = opened
      .commit(branch)
      .put('silent', silent)
      .publish(isCall ? { signal } : {});
    await expect(publishing).rejects.toMatchObject({ code: 'aborted' });
    expect(silent.destroyed).toBe(true);
    // The lock of the first is gone.
    await commit().put('later', '').publish();
    expect(await paths()).toEqual(['later']);
  });

  it('also stops a stream that a function opens too late', async () => {
    const stopping = new AbortController();
    const { promise, resolve } = Promise.withResolvers<Readable>();
    const opening = () => {
      stopping.abort();
      return promise;
    };
    const publishing = commit().put('late', opening).publish({ signal: stopping.signal });
    await expect(publishing).rejects.toMatchObject({ code: 'aborted' });
    const late = Readable.from(['late']);
    const closed = once(late, 'close');
    resolve(late);
    await closed;
  });

  it('names what is wrong with an argument', () => {
    const refused = expect.objectContaining({ code: 'usage' });
    const changes = commit();
    for (const content of [null, 7, new ArrayBuffer(1), [Buffer.from('')]] as unknown as string[])
      expect(() => changes.put('file', content)).toThrow(refused);
    for (const sizeBytes of [-1, 0.5, Number.NaN])
      expect(() => changes.put('file', '', { sizeBytes })).toThrow(refused);
    expect(() => changes.put('file', '', { modified: new Date('never') })).toThrow(refused);
    expect(() => changes.put(undefined as unknown as string, '')).toThrow(refused);
    expect(() => changes.delete(undefined as unknown as string)).toThrow(refused);
  });
});

describe('changes of one commit', () => {
  it('keep a file that is put back into a folder that is deleted', async () => {
    await commit().put('a/same', 'same').put('a/gone', '').publish();
    await commit().delete('a/').put('a/same', 'same').publish();
    expect(await paths()).toEqual(['a/same']);
  });

  it('cannot make a file of a folder of which one file of many stays', async () => {
    const names = Array.from({ length: 1_001 }, (_, at) => `a/${1_000 + at}`);
    let changes = commit();
    for (const name of names) changes.put(name, '');
    await changes.publish();
    changes = commit().put('a', 'a file');
    for (const name of names.slice(0, -1)) changes.delete(name);
    await expect(changes.publish()).rejects.toMatchObject({ code: 'conflict' });
  });
});

it('publishing tells of its progress', async () => {
  const events: DrayEvent[] = [];
  const options = { environment, onEvent: (event: DrayEvent) => events.push(event) };
  await using opened = await openRepository(sandbox.path('store'), options);
  await opened.commit(branch).put('a', 'four').put('b', 'twelve bytes').publish();
  expect(events.findLast(({ type }) => type === 'progress')).toMatchObject({
    phase: 'upload',
    filesDone: 2,
    filesTotal: 2,
    bytesDone: 16,
  });
  expect(events.at(-1)).toEqual({ type: 'phase', phase: 'commit' });
});

it('a commit waits for another one to the same repository, however long that takes', async () => {
  const { promise: isEnough, resolve: enough } = Promise.withResolvers<void>();
  const { promise: isHeld, resolve: hold } = Promise.withResolvers<void>();
  async function* slow() {
    hold();
    await isEnough;
    yield 'slow';
  }
  const { monotonicMs } = systemClock;
  let looks = 0;
  const events: string[] = [];
  const first = commit().put('first', slow).publish();
  await isHeld;
  await using other = await openRepository(sandbox.path('store'), {
    environment,
    onEvent(event) {
      if (event.type !== 'warning') return;
      events.push(event.warning);
      vi.spyOn(systemClock, 'monotonicMs').mockImplementation(() => {
        looks += 1;
        if (looks === 4) enough();
        return monotonicMs() + 60_000;
      });
    },
  });
  try {
    await Promise.all([first, other.commit(branch).put('second', 'quick').publish()]);
  } finally {
    vi.restoreAllMocks();
  }
  expect(events).toEqual(['waitingForLock']);
  expect(await paths()).toEqual(['first', 'second']);
});
