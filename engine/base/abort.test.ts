import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { unwatchAbort, watchAbort } from './abort.ts';

function setUp() {
  const controller = new AbortController();
  const { signal } = controller;
  const called: string[] = [];
  const callback = (name: string) => () => {
    called.push(name);
  };
  return { controller, signal, called, callback, listeners: () => getEventListeners(signal, 'abort').length };
}

describe('Callbacks that watch a signal', () => {
  it('share one listener, which goes with the last of them', () => {
    const { callback, listeners, signal } = setUp();
    const callbacks = ['a', 'b', 'c'].map(callback);
    for (const each of callbacks) watchAbort(signal, each);
    expect(listeners()).toBe(1);
    for (const each of callbacks.slice(1)) unwatchAbort(signal, each);
    expect(listeners()).toBe(1);
    unwatchAbort(signal, callbacks[0]!);
    expect(listeners()).toBe(0);
  });

  it('are called once when it fires, in their order', () => {
    const { called, callback, controller, signal } = setUp();
    for (const name of ['a', 'b']) watchAbort(signal, callback(name));
    controller.abort();
    controller.abort();
    expect(called).toEqual(['a', 'b']);
  });

  it('are not called after their end, not even if another one ends them while it fires', () => {
    const { called, callback, controller, signal } = setUp();
    const [first, last] = [callback('first'), callback('last')];
    watchAbort(signal, first);
    watchAbort(signal, () => unwatchAbort(signal, last));
    watchAbort(signal, last);
    unwatchAbort(signal, first);
    controller.abort();
    expect(called).toEqual([]);
  });

  it('can begin again after all of them had ended', () => {
    const { called, callback, controller, signal } = setUp();
    const [first, second] = [callback('first'), callback('second')];
    watchAbort(signal, first);
    unwatchAbort(signal, first);
    watchAbort(signal, second);
    controller.abort();
    expect(called).toEqual(['second']);
  });
});
