/**
 * The key of this window in a browser. The tab got it from its link, keeps it over a reload, and gives it to
 * another tab of this origin that asks. Other origins cannot get it, nor can a server on another port of this
 * machine.
 */
import { splitKey } from '../../engine/api/window-key.ts';

const NAME = 'dray-key';
/** Another tab that has the key answers at once; the line is tried again later in any case. */
const PATIENCE_MS = 1_000;

interface Told {
  readonly key?: string;
}

let others: BroadcastChannel | undefined;

/** Takes the key out of the address before anything else reads the address. */
export function takeWindowKey(): void {
  const found = splitKey(location.hash);
  if (found) {
    sessionStorage.setItem(NAME, found.key);
    history.replaceState(null, '', found.hash === '' ? `${location.pathname}${location.search}` : found.hash);
  }
  others = new BroadcastChannel(NAME);
  others.addEventListener('message', ({ data }: MessageEvent<Told>) => {
    const key = heldWindowKey();
    if (data.key === undefined && key !== undefined) others?.postMessage({ key } satisfies Told);
  });
}

export function heldWindowKey(): string | undefined {
  return sessionStorage.getItem(NAME) ?? undefined;
}

/** Asks the other tabs where this one has none. */
export async function findWindowKey(): Promise<string | undefined> {
  const held = heldWindowKey();
  if (held !== undefined || !others) return held;
  const channel = others;
  const told = await new Promise<string | undefined>((resolve) => {
    const hear = ({ data }: MessageEvent<Told>) => {
      if (data.key !== undefined) settle(data.key);
    };
    const patience = setTimeout(() => settle(undefined), PATIENCE_MS);
    const settle = (key: string | undefined) => {
      clearTimeout(patience);
      channel.removeEventListener('message', hear);
      resolve(key);
    };
    channel.addEventListener('message', hear);
    channel.postMessage({} satisfies Told);
  });
  if (told !== undefined) sessionStorage.setItem(NAME, told);
  return told;
}

/** Call when the engine refused the key, which is then of an earlier run. */
export function forgetWindowKey(key: string): void {
  if (heldWindowKey() === key) sessionStorage.removeItem(NAME);
}
