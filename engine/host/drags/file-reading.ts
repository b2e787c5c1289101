/** Reads a file for the web host, which streams it to the browser: no faster than the browser takes it. */
import { homedir } from 'node:os';
import type { HostCall } from '../port/host-call.ts';
import { jobContextOf } from '../port/host-call.ts';
import type { PortOwner } from '../rows/kept-lists.ts';

interface FileReading {
  next(): Promise<string | undefined>;
  stop(): void;
}

const READINGS = new WeakMap<PortOwner, FileReading>();

export async function openReading(place: string, call: HostCall): Promise<void> {
  READINGS.get(call.owner)?.stop();
  READINGS.set(call.owner, await startReading(place, call));
}

/** Undefined at the end, or if nothing is being read. */
export async function nextOfReading({ owner }: HostCall): Promise<string | undefined> {
  return await READINGS.get(owner)?.next();
}

async function startReading(place: string, call: HostCall): Promise<FileReading> {
  const { readPlace } = await import('../../jobs/one-place/read-place.ts');
  const { readable, writable } = new TransformStream<string, string>();
  const writer = writable.getWriter();
  const reader = readable.getReader();
  const stopping = new AbortController();
  const signal = AbortSignal.any([stopping.signal, call.owner.closed]);
  // The reading goes on after the request that began it.
  const context = { ...jobContextOf(call, homedir()), signal, emit: () => {}, throttle: call.host.throttle };
  // The chunk may be used again once this resolves, and the text does not change with it.
  const write = (chunk: Uint8Array) => writer.write(Buffer.from(chunk).toString('base64'));
  readPlace(context, { place }, write)
    .then(() => writer.close())
    .catch((error: unknown) => writer.abort(error))
    .catch(() => {});
  // A reader that never comes back must not hold the writer.
  signal.addEventListener('abort', () => void reader.cancel(signal.reason).catch(() => {}), { once: true });
  return {
    next: async () => (await reader.read()).value,
    stop: () => stopping.abort(),
  };
}
