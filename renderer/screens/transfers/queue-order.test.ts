import fc from 'fast-check';
import { expect, it } from 'vitest';
import { stepsTo } from './queue-order.ts';

it('The steps of a drag move the row to where it was dropped, wherever that is', () => {
  const ids = ['a', 'b', 'c', 'd', 'e'];
  const position = fc.nat({ max: 4 });
  fc.assert(
    fc.property(
      position,
      position,
      fc.constantFrom('before' as const, 'after' as const),
      (from, to, side) => {
        fc.pre(from !== to);
        const [id, target] = [ids[from]!, ids[to]!];
        const list = [...ids];
        for (const { action } of stepsTo(ids, { id, target, side })) {
          const at = list.indexOf(id);
          const next = action === 'up' ? at - 1 : at + 1;
          [list[at], list[next]] = [list[next]!, list[at]!];
        }
        expect(list.indexOf(id) - list.indexOf(target)).toBe(side === 'before' ? -1 : 1);
      },
    ),
  );
});
