/** Stands where a mover stands, and moves nothing. */
import assert from 'node:assert';
import type { Mover } from './tree-mover.ts';

export function createDryMover(): Mover {
  const refuse = async (): Promise<never> => assert.fail('A dry run changes nothing.');
  return { move: refuse, touch: refuse, remove: refuse, close: async () => {} };
}
