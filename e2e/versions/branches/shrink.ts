/** Makes a failing sequence of steps shorter: leaves out parts of it for as long as the same rule breaks. */
import { type ModelRun, runModel } from './branches-model.ts';
import { ModelFault } from './model-fault.ts';
import type { Feature } from './world.ts';

const TRIES_MAX = 400;
const JOURNAL_SHOWN = 60;

export interface Shrunk {
  readonly run: ModelRun;
  readonly steps: readonly number[];
}

/** After the delta debugging of Zeller and Hildebrandt, 2002. */
export async function shrink(
  seed: number,
  all: readonly number[],
  failed: ModelRun,
  features: ReadonlySet<Feature>,
): Promise<Shrunk> {
  const rule = ruleOf(failed);
  let best: Shrunk = { run: failed, steps: all.filter((at) => at <= failed.broken!.at) };
  let tries = 0;
  for (let size = Math.ceil(best.steps.length / 2); size >= 1; ) {
    let isShorter = false;
    for (let from = 0; from < best.steps.length && tries < TRIES_MAX; ) {
      const steps = best.steps.toSpliced(from, size);
      tries += 1;
      const run = await runModel(seed, steps, features);
      if (run.broken && ruleOf(run) === rule) {
        best = { run, steps: steps.filter((at) => at <= run.broken!.at) };
        isShorter = true;
      } else from += size;
    }
    if (tries >= TRIES_MAX) break;
    if (size > 1) size = Math.ceil(size / 2);
    else if (!isShorter) break;
  }
  return best;
}

function ruleOf({ broken }: ModelRun): string {
  const error = broken?.error;
  return error instanceof ModelFault ? error.rule : String(error);
}

export function describeFailure(seed: number, { run, steps }: Shrunk): string {
  const message = run.broken?.error instanceof Error ? run.broken.error.message : String(run.broken?.error);
  return [
    `seed ${seed}, step ${run.broken?.at}: ${message}`,
    `replay: DRAY_BRANCHES_SEEDS=${seed} DRAY_BRANCHES_ONLY=${steps.length > 100 ? `1-${steps.at(-1)}` : steps.join(',')}`,
    ...run.journal.slice(-JOURNAL_SHOWN),
  ].join('\n');
}
