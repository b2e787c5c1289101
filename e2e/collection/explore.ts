/** Runs a scenario in many orders: in all with few switches between the actors, or in random ones. */
import type { Choose, Step } from './scheduler.ts';

/** At this step take another way than the first. */
interface Deviation {
  readonly at: number;
  readonly choice: number;
}

/**
 * All orders with at most `deviations` steps at which something else happens than the first way: another
 * actor goes on, an answer is lost, an actor is killed, or a late request happens.
 * @returns How many orders that were.
 */
export async function exploreAll(
  run: (choose: Choose) => Promise<void>,
  { deviations }: { readonly deviations: number },
): Promise<number> {
  let runs = 0;
  const visit = async (taken: readonly Deviation[]): Promise<void> => {
    const widths: number[] = [];
    await run((steps, at) => {
      widths[at] = steps.length;
      return taken.find((deviation) => deviation.at === at)?.choice ?? 0;
    });
    runs += 1;
    if (taken.length === deviations) return;
    for (let at = (taken.at(-1)?.at ?? -1) + 1; at < widths.length; at += 1) {
      for (let choice = 1; choice < widths[at]!; choice += 1) await visit([...taken, { at, choice }]);
    }
  };
  await visit([]);
  return runs;
}

/** A chooser that mostly goes on with one actor, as slow and fast machines do. */
export function randomChoice(random: () => number): Choose {
  const switches = random();
  return (steps: readonly Step[]) => {
    if (random() > switches) return 0;
    const runs = steps.filter(({ kind }) => kind === 'run').length;
    // Faults are rare, or no run would get far.
    const isFault = runs < steps.length && random() < 0.15;
    return isFault ? runs + Math.floor(random() * (steps.length - runs)) : Math.floor(random() * runs);
  };
}
