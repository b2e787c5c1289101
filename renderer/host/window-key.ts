/**
 * The key of this window in a browser. The tab receives it with its link, keeps it across reloads, and sends
 * it to other tabs of the same origin that ask. Other origins cannot read it, so neither can a server on
 * another port of this machine.
 */
import { splitKey } from '../../engine/api/window/window-key.ts';

const NAME = 'dray-key';
/** A tab that has the key answers at once. After this time the window reconnects later anyway. */
const PATIENCE_MS = 1_000;

interface KeyMessage {
  /** Undefined asks for the key. */
  readonly key?: string;
}

let others: BroadcastChannel | undefined;

/** Call first: removes the key from the address before any other code reads the address. */
export function takeWindowKey(): void {
  const found = splitKey(location.hash);
  if (found) {
    sessionStorage.setItem(NAME, found.key);
    history.replaceState(null, '', found.hash === '' ? `${location.pathname}${location.search}` : found.hash);
  }
  others = new BroadcastChannel(NAME);
  others.addEventListener('message', ({ data }: MessageEvent<KeyMessage>) => {
    const key = heldWindowKey();
    if (data.key === undefined && key !== undefined) others?.postMessage({ key } satisfies KeyMessage);
  });
}

export function heldWindowKey(): string | undefined {
  return sessionStorage.getItem(NAME) ?? undefined;
}

/** Asks the other tabs if this one has no key. */
export async function findWindowKey(): Promise<string | undefined> {
  const held = heldWindowKey();
  if (held !== undefined || !others) return held;
  const channel = others;
  const received = await new Promise<string | undefined>((resolve) => {
    const hear = ({ data }: MessageEvent<KeyMessage>) => {
      if (data.key !== undefined) settle(data.key);
    };
    const patience = setTimeout(() => settle(undefined), PATIENCE_MS);
    const settle = (key: string | undefined) => {
      clearTimeout(patience);
      channel.removeEventListener('message', hear);
      resolve(key);
    };
    channel.addEventListener('message', hear);
    channel.postMessage({} satisfies KeyMessage);
  });
  if (received !== undefined) sessionStorage.setItem(NAME, received);
  return received;
}

/** Call when the engine has refused the key. Such a key belongs to an earlier run. */
export function forgetWindowKey(key: string): void {
  if (heldWindowKey() === key) sessionStorage.removeItem(NAME);
}
