import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import type { DatasetShape } from '../../data/dataset.ts';
import { SERVER_NAMES } from '../../machines/bench-servers.ts';
import { openSmallBench, runEntrant } from '../../machines/small-bench.ts';
import { createBarePuts } from './put-entrant.ts';

const SHAPE: DatasetShape = { files: 50, bytesMax: 1024, sizes: 'spread' };

it.each(SERVER_NAMES)(
  'bare PUTs are signed so that %s stores each file, in one request each',
  async (server) => {
    await using bench = await openSmallBench({ server });
    const entrant = await createBarePuts(bench, SHAPE, 0);
    expect(entrant.kind).toBe('reference');
    const { folder } = await bench.dataset(SHAPE);
    for (let round = 0; round < 2; round += 1) {
      const requests = await runEntrant(bench, entrant);
      const operations = requests?.map(({ operation }) => operation);
      if (operations) expect(operations).toEqual(Array(SHAPE.files).fill('PutObject'));
    }
    const left = readdirSync(dirname(folder)).filter((name) => name.startsWith('plan'));
    expect(left).toEqual([]);
  },
);
