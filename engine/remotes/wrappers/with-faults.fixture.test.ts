import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../memory/memory-store.fixture.ts';
import type { ObjectStore } from '../object-store.ts';
import { createFaults, withFaults } from './with-faults.fixture.ts';

async function drain(store: ObjectStore, key: string): Promise<number> {
  let bytes = 0;
  for await (const piece of (await store.get(key))!.body) bytes += piece.byteLength;
  return bytes;
}

describe('Planned faults', () => {
  it('act in their order, each as often as planned, and then no more', async () => {
    const faults = createFaults();
    faults.add('head').errorInstead(new Error('first')).repeat(2);
    faults.add('head').errorInstead(new Error('second'));
    const store = withFaults(createMemoryStore(), faults);
    for (const message of ['first', 'first', 'second'])
      await expect(store.head('a')).rejects.toThrow(message);
    expect(await store.head('a')).toBeUndefined();
    faults.verifyAllExercised();
  });

  it('act on matching calls and let others pass', async () => {
    const faults = createFaults();
    faults
      .add('put')
      .when((call) => call.arguments[0] === 'b')
      .errorInstead(new Error('not b'));
    const store = withFaults(createMemoryStore(), faults);
    await store.put('a', new Uint8Array());
    expect(() => faults.verifyAllExercised()).toThrow('put (1 left)');
    await expect(store.put('b', new Uint8Array())).rejects.toThrow('not b');
    faults.verifyAllExercised();
  });

  it('fail before the call, or after it succeeded', async () => {
    const memory = createMemoryStore();
    const faults = createFaults();
    const fail = () => Promise.reject(new Error('cut'));
    faults.add('put').before(fail);
    faults.add('put').after(fail);
    const store = withFaults(memory, faults);
    await expect(store.put('a', new Uint8Array())).rejects.toThrow('cut');
    expect(await memory.head('a')).toBeUndefined();
    await expect(store.put('a', new Uint8Array())).rejects.toThrow('cut');
    expect(await memory.head('a')).toBeDefined();
    faults.verifyAllExercised();
  });

  it('break a body after a number of bytes', async () => {
    const faults = createFaults();
    faults.add('get').truncateBody(5, new Error('cut'));
    const store = withFaults(createMemoryStore(), faults);
    await store.put('a', new Uint8Array(10));
    await expect(drain(store, 'a')).rejects.toThrow('cut');
    expect(await drain(store, 'a')).toBe(10);
    faults.verifyAllExercised();
  });

  it('apply to multipart uploads too', async () => {
    const faults = createFaults();
    faults.add('create').errorInstead(new Error('no uploads'));
    const store = withFaults(createMemoryStore(), faults);
    await expect(store.multipart!.create('a')).rejects.toThrow('no uploads');
    faults.add('listUploads').errorInstead(new Error('no list'));
    faults.add('parts').errorInstead(new Error('no parts'));
    await expect(store.multipart!.listUploads({ prefix: '' })).rejects.toThrow('no list');
    await expect(store.parts!('a')).rejects.toThrow('no parts');
    faults.verifyAllExercised();
  });
});
