/**
 * The least time in which a program for Node can download objects into files: a yardstick for large
 * downloads.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { clearFolders } from '../../data/clear-folders.ts';
import { type DatasetShape, pathOfFile } from '../../data/dataset.ts';
import { checkArrival } from '../../data/fingerprint.ts';
import type { Bench } from '../../machines/bench.ts';
import type { Entrant } from '../../scenarios/scenario.ts';
import type { Place } from '../contender.ts';
import { type GetPlan, writeGetPlan } from './gets.ts';
import { createHeads, writeProgram } from './program.ts';

const BARE_GETS = 'bare GETs';

const CONNECTIONS = 10;
const PROGRAM = new URL('gets.ts', import.meta.url);

export async function createBareGets(bench: Bench, shape: DatasetShape, latencyMs: number): Promise<Entrant> {
  const data = await bench.dataset(shape);
  let program: Promise<string> | undefined;
  return {
    name: BARE_GETS,
    kind: 'reference',
    prepare: async () => {
      program ??= writeProgram(PROGRAM, `${bench.newPath('bare-gets')}.mjs`);
      const place = await bench.reach(await bench.stored(shape), latencyMs);
      const folder = bench.newPath('fetched');
      const plan = bench.newPath('plan');
      writeGetPlan(plan, await planOf(place, folder, shape));
      return {
        command: {
          file: process.execPath,
          args: [await program, plan, String(CONNECTIONS)],
          environment: place.environment,
        },
        // The program sets no times.
        check: async () => checkArrival(folder, data.fingerprint()),
        close: async () => {
          await clearFolders(folder);
          await rm(plan, { force: true });
        },
      };
    },
  };
}

async function planOf(place: Place, folder: string, shape: DatasetShape): Promise<GetPlan> {
  const headOf = createHeads(place);
  const { hostname, port } = new URL(place.endpoint);
  const gets: { readonly request: string; readonly file: string }[] = [];
  for (let index = 0; index < shape.files; index += 1) {
    const file = pathOfFile(index);
    gets.push({ request: await headOf('GET', file), file: join(folder, file) });
  }
  return { host: hostname, port: Number(port), gets };
}
