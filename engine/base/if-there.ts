/** What a call of `lstatSync` with `throwIfNoEntry: false` finds. Undefined also for a path below a file. */
export function ifThere<Found>(stat: () => Found | undefined): Found | undefined {
  try {
    return stat();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
    throw error;
  }
}
