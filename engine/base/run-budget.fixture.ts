/**
 * How much a test does. `npm test` takes a slice that ends in minutes; `npm run test:long` takes all of it,
 * and finds its files by this function's name.
 */
export function runBudget<Value>(budget: { readonly short: Value; readonly long: Value }): Value {
  return process.env.DRAY_LONG_TESTS === '1' ? budget.long : budget.short;
}
