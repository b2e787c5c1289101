/**
 * A listing goes on from page to page, and never shows the same page twice. Each continuation carries what
 * finds a circle: a page that was seen, which moves on after 1, 2, 4, 8 ... pages (Brent's algorithm, BIT 20,
 * 1980). So no list of pages is kept, and a circle ends after at most three times its length.
 */
import { createHash } from 'node:crypto';
import { DrayError } from '../api/error.ts';
import type { ListPage } from './object-store.ts';

/** The store's own token, and the page that must not come again. */
interface PagePosition {
  readonly token: string | undefined;
  readonly steps: number;
  readonly stepsMax: number;
  readonly seen: string;
}

const POSITION = /^(\d{1,15})\.(\d{1,15})\.([0-9a-f]{16})\.(.*)$/s;

/** @param continuation As `advance` gave it. */
export function positionFrom(continuation: string | undefined): PagePosition {
  const [, steps, stepsMax, seen, token] = POSITION.exec(continuation ?? '') ?? [];
  if (token === undefined) return { token: continuation, steps: 0, stepsMax: 1, seen: '' };
  return { token, steps: Number(steps), stepsMax: Number(stepsMax), seen: seen! };
}

/**
 * The page with the continuation for the caller.
 * @param from The position at which the page was asked for.
 * @throws `remoteFailed` when more is announced and nothing new can come
 */
export function advance(page: ListPage, from: PagePosition): ListPage {
  const { continuation, ...rest } = page;
  if (continuation === undefined) return page;
  if (continuation === from.token) throw incompleteListing('its next page begins where this one did');
  const shown = digestOf(page);
  if (shown === from.seen) throw incompleteListing('it shows the same page again');
  const isFull = from.seen === '' || from.steps + 1 >= from.stepsMax;
  const next = isFull
    ? { steps: 0, stepsMax: 2 * from.stepsMax, seen: shown }
    : { steps: from.steps + 1, stepsMax: from.stepsMax, seen: from.seen };
  return { ...rest, continuation: `${next.steps}.${next.stepsMax}.${next.seen}.${continuation}` };
}

/** Pages without keys differ by their tokens. */
function digestOf({ continuation, folders, objects }: ListPage): string {
  const names = [objects[0]?.key, objects.at(-1)?.key, folders[0], folders.at(-1)];
  const isEmpty = objects.length + folders.length === 0;
  const text = JSON.stringify([objects.length, folders.length, ...names, isEmpty ? continuation : '']);
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** @throws `remoteFailed` for a key that was not asked for */
export function checkListed(keys: Iterable<string>, isAsked: (key: string) => boolean): void {
  for (const key of keys) if (!isAsked(key)) throw incompleteListing('it shows keys that were not asked for');
}

/** Of a page that cannot be believed: what it does not show would count as absent. To be repeated. */
export function incompleteListing(why: string): DrayError {
  return new DrayError('remoteFailed', `The store did not list all that it holds: ${why}.`, {
    retry: 'retry',
  });
}
