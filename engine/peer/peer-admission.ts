/**
 * Connections before they have shown the token. They share a small part of all connections, for a short time: one more than that ends
 * the oldest of them, so clients without a token never take the places of those who have it. Wrong tokens are counted for each address.
 */
import type { Socket } from 'node:net';
import type { Clock } from '../base/clock.ts';
import { PeerRefusal } from './peer-call.ts';

export interface AdmissionOptions {
  readonly clock: Clock;
  /** Of all connections, those with the token included. */
  readonly connectionsMax: number;
  /** From its first moment to its first request with the token, the handshake of TLS included. */
  readonly waitMs: number;
}

export interface Admission {
  arrived(socket: Socket): void;
  /** Ends those that have waited too long. */
  expire(): void;
  /** @throws PeerRefusal 429 while its address has sent too many wrong tokens; not for who was let in before. */
  check(socket: Socket): void;
  refused(socket: Socket): void;
  letIn(socket: Socket): void;
}

const WAITING_SHARE = 4;
const WAITING_MIN = 4;
/** An address may send so many at once, and one more each second. */
export const WRONG_TOKENS_MAX = 10;
const FORGIVEN_EVERY_MS = 1_000;
/** Of which wrong tokens are remembered; the longest known goes first. */
const ADDRESSES_MAX = 1_024;

export function createAdmission({ clock, connectionsMax, waitMs }: AdmissionOptions): Admission {
  const waitingMax = Math.max(WAITING_MIN, Math.floor(connectionsMax / WAITING_SHARE));
  /** The oldest first. */
  const waiting = new Map<string, { readonly socket: Socket; readonly sinceMs: number }>();
  const wrong = new Map<string, { readonly count: number; readonly atMs: number }>();
  const wrongOf = (address: string) => {
    const { atMs = 0, count = 0 } = wrong.get(address) ?? {};
    return Math.max(0, count - Math.floor((clock.monotonicMs() - atMs) / FORGIVEN_EVERY_MS));
  };
  return {
    arrived(socket) {
      const key = keyOf(socket);
      waiting.set(key, { socket, sinceMs: clock.monotonicMs() });
      socket.once('close', () => {
        if (waiting.get(key)?.socket === socket) waiting.delete(key);
      });
      if (waiting.size <= waitingMax) return;
      const [oldestKey, oldest] = waiting.entries().next().value!;
      waiting.delete(oldestKey);
      oldest.socket.destroy();
    },
    expire() {
      const nowMs = clock.monotonicMs();
      for (const [key, { sinceMs, socket }] of waiting) {
        if (nowMs - sinceMs < waitMs) return;
        waiting.delete(key);
        socket.destroy();
      }
    },
    check(socket) {
      if (!waiting.has(keyOf(socket)) || wrongOf(addressOf(socket)) < WRONG_TOKENS_MAX) return;
      throw new PeerRefusal(
        429,
        'slowDown',
        'Too many wrong tokens came from this address. Check the token, and try again in a few seconds.',
      );
    },
    refused(socket) {
      const address = addressOf(socket);
      const count = wrongOf(address) + 1;
      wrong.delete(address);
      wrong.set(address, { count, atMs: clock.monotonicMs() });
      if (wrong.size > ADDRESSES_MAX) wrong.delete(wrong.keys().next().value!);
    },
    letIn: (socket) => void waiting.delete(keyOf(socket)),
  };
}

/** The same for a TLS socket and the one below it. */
function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** Of IPv6 the network: whoever has one address of it has all. */
function addressOf({ remoteAddress = '' }: Socket): string {
  if (!remoteAddress.includes(':') || remoteAddress.startsWith('::ffff:')) return remoteAddress;
  const [head = '', tail = ''] = remoteAddress.split('::', 2);
  const [before, after] = [head, tail].map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Array<string>(Math.max(0, 8 - before!.length - after!.length)).fill('0');
  return [...before!, ...(remoteAddress.includes('::') ? zeros : []), ...after!].slice(0, 4).join(':');
}
