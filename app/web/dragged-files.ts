/**
 * A file that is dragged out of the browser. A drag has an address from its first moment (`DownloadURL`),
 * so the page makes a token, says by `POST /drag` with its key what the token stands for, and the browser
 * downloads from there when the file is dropped: once, soon, and with the cookie. A download sends no
 * header of the page, which is why a token takes the place of the key.
 */
import type { ServerResponse } from 'node:http';
import { DrayError } from '../../engine/api/error.ts';
import { connectHost } from '../../engine/api/window/host-client.ts';
import type { HostPort } from '../../engine/api/window/host-port.ts';
import { type Clock, systemClock } from '../../engine/base/clock.ts';

/** 32 random bytes. */
const TOKEN = /^[\w-]{43}$/;
const PLACE_CHARS_MAX = 32_768;
/** A drag that takes longer than this has to be begun again. */
const KEPT_MS = 120_000;
/** When there are more, the oldest is void. */
const OFFERS_MAX = 64;

export interface DraggedFiles {
  /** @throws `usage` */
  offer(token: string, place: string): void;
  /** The place of the token, once. */
  take(token: string): string | undefined;
}

export function createDraggedFiles(clock: Clock = systemClock): DraggedFiles {
  const offers = new Map<string, { readonly place: string; readonly untilMs: number }>();
  return {
    offer(token, place) {
      if (!TOKEN.test(token) || offers.has(token) || place === '' || place.length > PLACE_CHARS_MAX)
        throw new DrayError('usage', 'The request names no file to drag. Reload the window and try again.');
      offers.set(token, { place, untilMs: clock.monotonicMs() + KEPT_MS });
      const [oldest] = offers.keys();
      if (offers.size > OFFERS_MAX) offers.delete(oldest!);
    },
    take(token) {
      const found = offers.get(token);
      offers.delete(token);
      return found && clock.monotonicMs() <= found.untilMs ? found.place : undefined;
    },
  };
}

export interface Sending {
  readonly place: string;
  readonly name: string;
  readonly port: HostPort;
  readonly signal: AbortSignal;
}

/** Sends the file as a download that no browser shows as a page. A failed reading breaks the download. */
export async function sendDragged(
  response: ServerResponse,
  { name, place, port, signal }: Sending,
): Promise<void> {
  const client = connectHost(port);
  try {
    await client.ask('drags.open', { place }, { signal });
    let { base64 } = await client.ask('drags.next', {}, { signal });
    response.setHeader('content-type', 'application/octet-stream');
    response.setHeader('content-disposition', `attachment; filename*=UTF-8''${encodeName(name)}`);
    response.setHeader('cache-control', 'no-store');
    response.writeHead(200);
    while (base64 !== undefined) {
      if (!response.write(Buffer.from(base64, 'base64'))) await untilDrained(response, signal);
      ({ base64 } = await client.ask('drags.next', {}, { signal }));
    }
    response.end();
  } finally {
    client.close();
  }
}

/** RFC 8187: of the characters that `encodeURIComponent` leaves, these have a meaning in a header. */
function encodeName(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function untilDrained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => {
      response.off('drain', drained);
      signal.removeEventListener('abort', aborted);
      act();
    };
    const drained = () => settle(resolve);
    const aborted = () => settle(() => reject(signal.reason));
    response.once('drain', drained);
    signal.addEventListener('abort', aborted);
    if (signal.aborted) aborted();
  });
}
