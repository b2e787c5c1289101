/**
 * Verifies a repository of very many paths by a fleet: time, requests, and memory of the workers and of the
 * command. The repository is synthetic: paths that follow each other share a content.
 *
 *     node bench/fleet/verify.ts [--files 1000000,10000000] [--paths-of-content 1000] [--json FILE]
 */
import { rmSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { formatBytes, formatCount, formatDuration } from '../../engine/api/text/numbers.ts';
import { openS3Store } from '../../engine/remotes/s3/open-s3-store.ts';
import { DRAY_COMMAND } from '../entrants/contenders.ts';
import { createMeter, type Meter } from '../machines/measure.ts';
import { fleetCircumstances, publishFigure, target } from './fleet-figure.ts';
import { type FleetMachine, placeOn, startFleetMachine, watchWorkers } from './fleet-machine.ts';
import { type Histories, readHistories } from './histories.ts';
import { writeSyntheticRepository } from './synthetic-repository.ts';

const WORKERS = 2;
/** The most that a worker's or the command's memory may grow, from the fewest files to the most. */
const GROWTH_MAX = 1.3;

interface Verified {
  readonly files: number;
  readonly wallMs: number;
  readonly requests: number;
  readonly workerBytes: number;
  readonly commandBytes: number;
  readonly histories: Histories;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      files: { type: 'string', default: '1000000,10000000' },
      'paths-of-content': { type: 'string', default: '1000' },
      json: { type: 'string' },
    },
  });
  const pathsOfContent = Number(values['paths-of-content']);
  await using machine = await startFleetMachine();
  const meter = await createMeter(machine.folder);
  if (!meter.seesResources) throw new Error('GNU time is missing, so the memory of the command is unknown.');
  const circumstances = fleetCircumstances();
  const all: Verified[] = [];
  for (const files of values.files.split(',').map(Number)) {
    all.push(await verify(machine, meter, { files, pathsOfContent }));
    console.error(all.at(-1));
  }
  const growth = (of: 'workerBytes' | 'commandBytes') => all.at(-1)![of] / all[0]![of];
  publishFigure(
    {
      order: 8,
      title: `Verify: a repository of ${formatCount(all.at(-1)!.files)} files by ${WORKERS} workers`,
      text:
        `\`dray fleet verify\` of a synthetic repository in versitygw (memory), by ${WORKERS} workers with their defaults. ` +
        `Always ${formatCount(pathsOfContent)} paths that follow each other share a content, which is an object of its own. ` +
        'The segments and the commit are written by the engine. Requests are those in the log of the store. Memory is the most ' +
        'resident memory of a worker, and of the command.',
      command: `node bench/fleet/verify.ts --files ${values.files} --paths-of-content ${pathsOfContent}`,
      circumstances: { ...circumstances, 'load average after': loadavg()[0]!.toFixed(1) },
      headings: ['files', 'time', 'requests', 'events in histories', 'memory of a worker', 'of the command'],
      rows: all.map(({ commandBytes, files, histories, requests, wallMs, workerBytes }) => [
        formatCount(files),
        formatDuration(wallMs),
        formatCount(requests),
        formatCount(histories.events),
        formatBytes(workerBytes),
        formatBytes(commandBytes),
      ]),
      targets:
        all.length < 2
          ? []
          : (['workerBytes', 'commandBytes'] as const).map((of) =>
              target(
                `${of === 'workerBytes' ? 'a worker' : 'the command'} takes at most ${GROWTH_MAX} times the memory for the most files`,
                growth(of).toFixed(2),
                growth(of) <= GROWTH_MAX,
              ),
            ),
      notes: [],
    },
    values.json,
  );
}

async function verify(
  machine: FleetMachine,
  meter: Meter,
  { files, pathsOfContent }: { readonly files: number; readonly pathsOfContent: number },
): Promise<Verified> {
  const { destination: s3, environment, temporal } = machine;
  const id = `verify-${files}`;
  const store = await openS3Store({
    bucket: s3.bucket,
    prefix: `${id}/`,
    endpoint: s3.endpoint,
    environment,
  });
  await writeSyntheticRepository(store, { files, pathsOfContent }).finally(() => store.close());
  await s3.resetRequests();
  const workers = await Promise.all(Array.from({ length: WORKERS }, () => machine.startWorker()));
  const watch = watchWorkers(workers);
  try {
    const ran = await meter.run(
      {
        file: process.execPath,
        args: [DRAY_COMMAND, 'fleet', 'verify', '-q', placeOn(s3, id), '--id', id],
        environment,
      },
      AbortSignal.timeout(2 ** 31 - 1),
    );
    return {
      ...{ files, wallMs: ran.wallMs, commandBytes: ran.peakRssBytes!, workerBytes: watch.mostBytes() },
      requests: (await s3.requests()).length,
      histories: await readHistories(temporal.address, id),
    };
  } finally {
    watch.stop();
    await Promise.all(workers.map((worker) => worker.stop()));
    rmSync(join(s3.dataFolder, s3.bucket, id), { recursive: true, force: true });
  }
}

await main();
