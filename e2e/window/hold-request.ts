/** Holds requests and answers between a page and its engine, so that a test can use the window meanwhile. */
import type { Page } from 'playwright';
import type { HostRequestName } from '../../engine/api/host.ts';
import { relayHost } from './relay-host.ts';

export interface HeldRequests {
  /** From now on requests of this name wait. */
  hold(name: HostRequestName): void;
  /** From now on answers to new requests of this name wait. */
  holdAnswers(name: HostRequestName): void;
  /** How many requests and answers wait. */
  waiting(): number;
  /** Sends what waits, and holds no more. */
  release(): void;
}

/** Loads the page anew, over a connection that the test can hold. */
export async function holdRequests(page: Page): Promise<HeldRequests> {
  let held: string | undefined;
  let heldAnswers: string | undefined;
  const unanswered = new Set<number>();
  let waiting: (() => void)[] = [];
  await relayHost(page, {
    toEngine(message, send) {
      const { id, name } = JSON.parse(message) as { readonly id: number; readonly name?: string };
      if (heldAnswers !== undefined && name === heldAnswers) unanswered.add(id);
      if (held !== undefined && name === held) waiting.push(send);
      else send();
    },
    toPage(message, send) {
      const { id, is } = JSON.parse(message) as { readonly id: number; readonly is: string };
      if (is === 'answer' && unanswered.delete(id)) waiting.push(send);
      else send();
    },
  });
  await page.reload();
  await page.locator('#screen').waitFor();
  return {
    hold: (name) => {
      held = name;
    },
    holdAnswers: (name) => {
      heldAnswers = name;
    },
    waiting: () => waiting.length,
    release: () => {
      held = undefined;
      heldAnswers = undefined;
      for (const send of waiting) send();
      waiting = [];
    },
  };
}
