/**
 * The few patterns of the model, written by hand: the engine's code must not decide what it is compared with.
 */
export function compilePatterns(exclude: string | undefined): (path: string) => boolean {
  switch (exclude) {
    case undefined:
      return () => true;
    case '*.log':
      return (path) => !path.endsWith('.log');
    case 'd0/**':
      return (path) => !/(?:^|\/)d0\//.test(path);
    default:
      throw new RangeError(`The model has no pattern ${exclude}.`);
  }
}
