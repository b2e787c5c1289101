/**
 * Limits connections that have not shown the token. They share a small part of all connections, for a short
 * time. One more than that ends the oldest one of the address that has most of them. So clients without a
 * token never take the places of clients with it, and no address takes the places of another.
 *
 * Wrong tokens are counted for each address. The right token is accepted at any count: all users of a
 * machine share the address of loopback, and all users of an office share the router's. If the limit held for
 * the right token too, one of them could lock out the others. So the limit does not make guessing hard. The
 * token does: it has 256 bits, or at least 16 characters that the user chose, and each guess needs a new
 * connection. The limit slows clients that repeat an old token. The server asks them to wait, and Dray's own
 * client waits.
 */
import type { Socket } from 'node:net';
import type { Clock } from '../base/clock.ts';
import { PeerRefusal } from './peer-call.ts';

export interface AdmissionOptions {
  readonly clock: Clock;
  /** A share of all connections, including those with the token. */
  readonly connectionsMax: number;
  /** The time from its start to its first request with the token, including the TLS handshake. */
  readonly waitMs: number;
}

export interface Admission {
  arrived(socket: Socket): void;
  /** Closes those that have waited too long. */
  expire(): void;
  /** It sent a wrong token. @throws PeerRefusal 429 if its address has sent too many of them. */
  refused(socket: Socket): void;
  /** It sent the right token. */
  letIn(socket: Socket): void;
}

/** Keeps the socket's address, which the socket forgets once it is closed. */
interface Waiting {
  readonly key: string;
  readonly address: string;
  readonly socket: Socket;
  readonly sinceMs: number;
}

const WAITING_SHARE = 1 / 4;
/** One client opens this many at once. */
const WAITING_MIN = 16;
const WAITING_SHARE_MAX = 1 / 2;
/** Wrong tokens of an address that get 401 at once; one more is allowed each second. */
export const WRONG_TOKENS_MAX = 10;
const FORGIVEN_EVERY_MS = 1_000;
/** Addresses whose wrong tokens are counted. The one with the oldest 401 is forgotten first. */
const ADDRESSES_MAX = 1_024;

export function createAdmission({ clock, connectionsMax, waitMs }: AdmissionOptions): Admission {
  const waitingMax = Math.ceil(
    Math.min(Math.max(WAITING_MIN, connectionsMax * WAITING_SHARE), connectionsMax * WAITING_SHARE_MAX),
  );
  /** Oldest first. */
  const waiting = new Map<string, Waiting>();
  const wrong = new Map<string, { readonly count: number; readonly atMs: number }>();
  const wrongOf = (address: string) => {
    const { atMs = 0, count = 0 } = wrong.get(address) ?? {};
    return Math.max(0, count - Math.floor((clock.monotonicMs() - atMs) / FORGIVEN_EVERY_MS));
  };
  return {
    arrived(socket) {
      const key = keyOf(socket);
      waiting.set(key, { key, socket, address: addressOf(socket), sinceMs: clock.monotonicMs() });
      socket.once('close', () => {
        if (waiting.get(key)?.socket === socket) waiting.delete(key);
      });
      if (waiting.size <= waitingMax) return;
      const crowd = largestCrowd(waiting.values());
      waiting.delete(crowd.key);
      crowd.socket.destroy();
    },
    expire() {
      const nowMs = clock.monotonicMs();
      for (const [key, { sinceMs, socket }] of waiting) {
        if (nowMs - sinceMs < waitMs) return;
        waiting.delete(key);
        socket.destroy();
      }
    },
    refused(socket) {
      const address = addressOf(socket);
      const before = wrongOf(address);
      if (before >= WRONG_TOKENS_MAX)
        throw new PeerRefusal(
          429,
          'slowDown',
          'The token is wrong, and too many wrong tokens came from this address. Check the token, and try again in a few seconds.',
        );
      wrong.delete(address);
      wrong.set(address, { count: before + 1, atMs: clock.monotonicMs() });
      if (wrong.size > ADDRESSES_MAX) wrong.delete(wrong.keys().next().value!);
    },
    letIn: (socket) => void waiting.delete(keyOf(socket)),
  };
}

/** The oldest connection of the address that has the most. */
function largestCrowd(waiting: Iterable<Waiting>): Waiting {
  const crowds = Map.groupBy(waiting, ({ address }) => address);
  return [...crowds.values()].reduce((most, crowd) => (crowd.length > most.length ? crowd : most))[0]!;
}

/** The same for a TLS socket and the socket below it. */
function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** For IPv6 the network of 64 bits, because one host has all its addresses. */
function addressOf({ remoteAddress = '' }: Socket): string {
  if (!remoteAddress.includes(':') || remoteAddress.startsWith('::ffff:')) return remoteAddress;
  const [head = '', tail = ''] = remoteAddress.split('::', 2);
  const [before, after] = [head, tail].map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Array<string>(Math.max(0, 8 - before!.length - after!.length)).fill('0');
  return [...before!, ...(remoteAddress.includes('::') ? zeros : []), ...after!].slice(0, 4).join(':');
}
