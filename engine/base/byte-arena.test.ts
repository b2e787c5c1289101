import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createByteArena, type Span } from './byte-arena.ts';

const WHOLE: Span = { offset: 64, length: 1000 };

/** A length to take, or the index of an outstanding span to free. */
const steps = fc.array(
  fc.oneof(fc.record({ take: fc.integer({ min: 1, max: 400 }) }), fc.record({ free: fc.nat({ max: 50 }) })),
  { maxLength: 200 },
);

describe('a byte arena', () => {
  it('gives spans inside its range that never overlap', () => {
    fc.assert(
      fc.property(steps, (taken) => {
        const arena = createByteArena(WHOLE);
        const out: Span[] = [];
        for (const step of taken) {
          if ('free' in step) {
            const [span] = out.splice(step.free % Math.max(1, out.length), 1);
            if (span) arena.free(span);
            continue;
          }
          const span = arena.take(step.take);
          if (!span) continue;
          expect(span.length).toBe(step.take);
          expect(span.offset).toBeGreaterThanOrEqual(WHOLE.offset);
          expect(span.offset + span.length).toBeLessThanOrEqual(WHOLE.offset + WHOLE.length);
          for (const other of out)
            expect(
              other.offset + other.length <= span.offset || span.offset + span.length <= other.offset,
            ).toBe(true);
          out.push(span);
        }
        for (const span of out) arena.free(span);
        expect(arena.take(WHOLE.length)).toEqual(WHOLE);
      }),
    );
  });

  it('gives the lowest free addresses first and reuses them', () => {
    const arena = createByteArena(WHOLE);
    const first = arena.take(100)!;
    expect(arena.take(100)).toEqual({ offset: 164, length: 100 });
    arena.free(first);
    expect(arena.take(60)).toEqual({ offset: 64, length: 60 });
  });

  it('gives nothing when no free span is long enough', () => {
    const arena = createByteArena(WHOLE);
    const first = arena.take(500)!;
    arena.take(500);
    expect(arena.take(1)).toBeUndefined();
    arena.free(first);
    expect(arena.take(501)).toBeUndefined();
    expect(arena.take(500)).toEqual(first);
  });

  it('refuses a span that is free already', () => {
    const arena = createByteArena(WHOLE);
    const span = arena.take(10)!;
    arena.free(span);
    expect(() => arena.free(span)).toThrow('freed twice');
  });
});
