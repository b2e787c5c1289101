/** Tests joining, stopping and restarting drops, with a fake for the browser's request. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { DroppedFile } from './drop-queue.ts';
import { sendFiles, stopDrops } from './drops.ts';

/** Requests that were sent and not answered. */
let open: FakeRequest[] = [];
let sent: string[] = [];

class FakeRequest {
  upload = {};
  status = 201;
  responseText = '';
  onload = () => {};
  onabort = () => {};
  onloadend = () => {};
  #path = '';
  open(_method: string, address: string) {
    this.#path = new URLSearchParams(address.split('?')[1]).get('path') ?? '';
  }
  setRequestHeader() {}
  send() {
    sent.push(this.#path);
    open.push(this);
  }
  abort() {
    this.#end(this.onabort);
  }
  answer() {
    this.#end(this.onload);
  }
  #end(handler: () => void) {
    open = open.filter((one) => one !== this);
    handler();
    this.onloadend();
  }
}

beforeEach(() => {
  open = [];
  sent = [];
  vi.stubGlobal('sessionStorage', { getItem: () => null });
  vi.stubGlobal('XMLHttpRequest', FakeRequest);
  vi.stubGlobal('addEventListener', () => {});
  vi.stubGlobal('removeEventListener', () => {});
});
afterEach(() => {
  vi.unstubAllGlobals();
});

describe('A drop', () => {
  it('joins the drop under way', async () => {
    const first = sendFiles(files('a', 'b'));
    await vi.waitFor(() => expect(sent).toEqual(['a', 'b']));
    expect(await sendFiles(files('c'))).toBeUndefined();
    await answerAll(() => sent.length === 3);
    expect(await first).toMatchObject({ filesDone: 3, isStopped: false });
  });

  it('after a stop, while an earlier folder is still being read, is sent in full and counted by itself', async () => {
    const gate = Promise.withResolvers<void>();
    async function* slow(): AsyncGenerator<DroppedFile> {
      yield* files('a');
      await gate.promise;
      yield* files('b', 'c');
    }
    const first = sendFiles(slow());
    await vi.waitFor(() => expect(sent).toEqual(['a']));
    stopDrops();
    expect(await sendFiles(files('d', 'e'))).toBeUndefined();
    gate.resolve();
    await answerAll(() => sent.length === 3);
    expect(sent).toEqual(['a', 'd', 'e']);
    expect(await first).toMatchObject({ filesDone: 2, isStopped: false });
  });

  it('leaves no listener on the signal of its drop', async () => {
    const added = vi.spyOn(AbortSignal.prototype, 'addEventListener');
    const removed = vi.spyOn(AbortSignal.prototype, 'removeEventListener');
    const first = sendFiles(files('a', 'b', 'c'));
    await answerAll(() => sent.length === 3);
    await first;
    expect(added).toHaveBeenCalledTimes(3);
    expect(removed).toHaveBeenCalledTimes(3);
    vi.restoreAllMocks();
  });
});

async function answerAll(isLast: () => boolean): Promise<void> {
  await vi.waitFor(() => {
    for (const request of open) request.answer();
    expect(isLast()).toBe(true);
  });
}

async function* files(...paths: readonly string[]): AsyncGenerator<DroppedFile> {
  for (const path of paths) yield { place: '/', path, open: async () => new Blob(['abc']) };
}
