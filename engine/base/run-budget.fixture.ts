export interface Budget<Value> {
  /** `npm test`: a slice that ends in minutes. */
  readonly short: Value;
  /** `npm run test:long`. */
  readonly long: Value;
  /** `DRAY_FULL_SWEEPS=1 npm run test:long`: for what takes hours; default: `long`. */
  readonly full?: Value;
}

/** How much a test does. `npm run test:long` finds its files by this function's name. */
export function runBudget<Value>({ short, long, full = long }: Budget<Value>): Value {
  if (process.env.DRAY_LONG_TESTS !== '1') return short;
  return process.env.DRAY_FULL_SWEEPS === '1' ? full : long;
}
