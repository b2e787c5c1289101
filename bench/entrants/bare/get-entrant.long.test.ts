import { expect, it } from 'vitest';
import type { DatasetShape } from '../../data/dataset.ts';
import { SERVER_NAMES } from '../../machines/bench-servers.ts';
import { openSmallBench, runEntrant } from '../../machines/small-bench.ts';
import { createBareGets } from './get-entrant.ts';

const SHAPE: DatasetShape = { files: 3, bytesMax: 3_000_000, sizes: 'equal' };

it.each(SERVER_NAMES)(
  'bare GETs fetch each object of %s into its file, in one request each',
  async (server) => {
    await using bench = await openSmallBench({ server });
    const entrant = await createBareGets(bench, SHAPE, 0);
    expect(entrant.kind).toBe('reference');
    for (let round = 0; round < 2; round += 1) {
      const requests = await runEntrant(bench, entrant);
      const operations = requests?.map(({ operation }) => operation);
      if (operations) expect(operations).toEqual(Array(SHAPE.files).fill('GetObject'));
    }
  },
);
