/** The most that the server can accept: a yardstick for uploads of small files. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type DatasetShape, pathOfFile } from '../../data/dataset.ts';
import { checkPlainObjects, removePlace } from '../../data/stored-objects.ts';
import type { Bench } from '../../machines/bench.ts';
import type { Entrant } from '../../scenarios/scenario.ts';
import type { Place } from '../contender.ts';
import { createHeads, writeProgram } from './program.ts';
import { writePlan } from './puts.ts';

const BARE_PUTS = 'bare PUTs';

const CONNECTIONS = 32;
const PROGRAM = new URL('puts.ts', import.meta.url);

export async function createBarePuts(bench: Bench, shape: DatasetShape, latencyMs: number): Promise<Entrant> {
  const data = await bench.dataset(shape);
  let program: Promise<string> | undefined;
  return {
    name: BARE_PUTS,
    kind: 'reference',
    prepare: async () => {
      program ??= writeProgram(PROGRAM, `${bench.newPath('bare-puts')}.mjs`);
      const place = await bench.newPlace(latencyMs);
      const plan = bench.newPath('plan');
      const { hostname, port } = new URL(place.endpoint);
      await writePlan(
        plan,
        { host: hostname, port: Number(port) },
        await writeRequests(place, data.folder, shape),
      );
      return {
        command: {
          file: process.execPath,
          args: [await program, plan, String(CONNECTIONS)],
          environment: place.environment,
        },
        check: () => checkPlainObjects(bench, place, data.fingerprint()),
        close: async () => {
          await removePlace(place);
          for (const file of [plan, `${plan}.json`]) await rm(file, { force: true });
        },
      };
    },
  };
}

async function writeRequests(place: Place, folder: string, shape: DatasetShape): Promise<readonly Buffer[]> {
  const headOf = createHeads(place);
  const requests: Buffer[] = [];
  for (let index = 0; index < shape.files; index += 1) {
    const file = pathOfFile(index);
    const body = await readFile(join(folder, file));
    const head = await headOf('PUT', file, { 'content-length': String(body.length) });
    requests.push(Buffer.concat([Buffer.from(head), body]));
  }
  return requests;
}
