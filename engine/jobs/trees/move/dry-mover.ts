/** The mover of a dry run. It moves nothing. */
import assert from 'node:assert';
import type { DeltaMover } from './delta-mover.ts';
import type { Mover } from './mover.ts';

export function createDryMover(delta: DeltaMover | undefined): Mover {
  const refuse = async (): Promise<never> => assert.fail('A dry run changes nothing.');
  return {
    move: refuse,
    touch: refuse,
    remove: refuse,
    foresee: async (item, over) => delta?.foresee(item, over),
    close: async () => {},
  };
}
