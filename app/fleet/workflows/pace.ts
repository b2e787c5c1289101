/**
 * How many steps of a range run at the same time. A store that asks for fewer requests halves the number, and
 * each round of steps after that adds one. A worker that meets such a store tells all running ranges of the
 * job, so the whole fleet slows down. A range that begins later takes over the pace of one that has ended.
 *
 * A halving stops no step: it has its effect once enough steps have ended. Until then another message of a
 * worker is about the same congestion, and halves nothing.
 */
export function createPace(stepsMax: number, atFirst = stepsMax) {
  let allowed = atFirst;
  let running = 0;
  /** Steps that ended since the last change. Negative: those that must still end for a halving's effect. */
  let ended = 0;
  const stepEnded = () => {
    running -= 1;
    ended += 1;
    if (ended < allowed || allowed === stepsMax) return;
    allowed += 1;
    ended = 0;
  };
  return {
    atOnce: () => allowed,
    slowDown() {
      if (ended < 0) return;
      // A range that lists its first files will soon run as many steps as it may.
      const steps = running || allowed;
      allowed = Math.max(1, Math.floor(Math.min(allowed, steps) / 2));
      ended = Math.min(0, allowed - steps);
    },
    /** Counts the step as running until it ends. */
    during: <T>(step: () => Promise<T>): Promise<T> => {
      running += 1;
      return step().finally(stepEnded);
    },
  };
}
