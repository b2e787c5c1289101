/**
 * How many parts of a range run at the same time. A store that asks for fewer requests halves the number, and
 * each round of parts without such a request adds one. Each range has its own pace: S3 limits requests by
 * prefix, so a busy range does not slow the others.
 */
export function createPace(partsMax: number) {
  let allowed = partsMax;
  let doneSince = 0;
  return {
    atOnce: () => allowed,
    slowDown(running: number) {
      allowed = Math.max(1, Math.floor(Math.min(allowed, Math.max(1, running)) / 2));
      doneSince = 0;
    },
    partDone() {
      doneSince += 1;
      if (doneSince < allowed || allowed === partsMax) return;
      allowed += 1;
      doneSince = 0;
    },
  };
}
