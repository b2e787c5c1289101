/** A time in a listing may stand for all of its second, so content of this age can still change unseen. */
const YOUNG_MS = 2_000;

/** The time to wait before an object is read, so that a later change of it has a later time. */
export function waitUntilOldMs(modifiedMs: number, nowMs: number): number {
  // The store's clock may be ahead of this one, so the wait is bounded.
  return Math.min(Math.max(0, modifiedMs + YOUNG_MS - nowMs), YOUNG_MS);
}
