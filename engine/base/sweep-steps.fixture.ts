import { expect } from 'vitest';

export interface StepSweep {
  /** Interrupts at steps 1, 1 + stride, 1 + 2 * stride, ...; default 1. */
  readonly stride?: number;
  /** Fewer interruptions fail the test: a sweep that never meets its subject shows nothing. */
  readonly least: number;
}

/** More fail the test: it has a run that never ends by itself. */
const INTERRUPTIONS_MAX = 2_000;

/**
 * Runs something again and again, interrupted at a later step each time. The sweep ends with the first run
 * that ends before it reaches its step. No run is expected to take as many steps as another: writes are
 * gathered and requests run side by side, so the number depends on timing.
 *
 * @param run One run. Returns whether it was interrupted at the step, from 1.
 */
export async function sweepSteps(
  run: (step: number) => Promise<boolean>,
  { least, stride = 1 }: StepSweep,
): Promise<void> {
  let interruptions = 0;
  for (let step = 1; await run(step); step += stride) {
    interruptions += 1;
    expect(interruptions, 'the number of runs before one ends by itself').toBeLessThan(INTERRUPTIONS_MAX);
  }
  expect(interruptions, 'the number of steps at which it was interrupted').toBeGreaterThanOrEqual(least);
}
