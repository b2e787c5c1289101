/**
 * A bench for tests: a real server, and Dray from its sources in every role, because other tools
 * may be missing.
 */
import { tmpdir } from 'node:os';
import { COMMAND } from '../../app/cli/command.fixture.ts';
import { roomyFolder } from '../../e2e/servers/memory-folder.ts';
import type { LoggedRequest } from '../../e2e/servers/versitygw.ts';
import type { Contender, ContenderName, Courier } from '../entrants/contender.ts';
import { createDray, createDrayCopy } from '../entrants/contenders.ts';
import type { Needs } from '../scenarios/holding.ts';
import type { Entrant } from '../scenarios/scenario.ts';
import { type Bench, openBench } from './bench.ts';
import type { ServerName } from './bench-servers.ts';
import type { Command, CommandRun } from './measure.ts';

export const DRAY_FROM_SOURCES: Contender = createDrayCopy('of the sources', COMMAND);

export const DRAY_REPOSITORY_FROM_SOURCES: Contender = createDray('of the sources', COMMAND);

/** A script that lists a server's files, each with its time. */
const LIST_FILES = `
  import { existsSync, readdirSync, statSync } from 'node:fs';
  const folder = process.argv[1];
  for (const path of existsSync(folder) ? readdirSync(folder, { recursive: true }) : []) {
    const found = statSync(folder + '/' + path, { bigint: true });
    if (found.isFile()) console.log(path, found.mtimeNs);
  }`;

const COURIER: Courier = {
  upload: DRAY_FROM_SOURCES.upload,
  download: DRAY_FROM_SOURCES.download,
  list: ({ storeFolder, environment }) => ({
    file: process.execPath,
    args: ['--input-type=module', '-e', LIST_FILES, storeFolder],
    environment,
  }),
};

export interface SmallBenchOptions {
  readonly server?: ServerName;
  readonly contenders?: Bench['contenders'];
}

export async function openSmallBench(options: SmallBenchOptions = {}): Promise<Bench> {
  return openBench({
    parent: tmpdir(),
    storeParent: await roomyFolder(),
    chooseFolder: roomyFolder,
    server: options.server ?? 'versitygw',
    contenders: options.contenders ?? new Map<ContenderName, Contender>([['dray copy', DRAY_FROM_SOURCES]]),
    courier: async () => COURIER,
    signal: new AbortController().signal,
  });
}

/**
 * Does once all that a scenario does with an entrant. Returns the requests where the server logs them.
 *
 * @param change Changes the run before the check. @throws Error when the check fails.
 */
export async function runEntrant(
  bench: Bench,
  entrant: Entrant | undefined,
  change: (run: CommandRun) => CommandRun = (run) => run,
): Promise<readonly LoggedRequest[] | null> {
  if (!entrant) throw new Error('The entrant is missing.');
  await entrant.setUp?.();
  const attempt = await entrant.prepare();
  try {
    await bench.watch.reset();
    const one = (command: Command) => bench.meter.run(command, bench.signal);
    const run = await (attempt.runAll?.(one) ?? one(attempt.command));
    const { requests } = await bench.watch.read();
    await attempt.check(change(run), requests);
    return requests;
  } finally {
    await attempt.close();
  }
}

/**
 * Returns the holdings that a heat named and did not use, and used and did not name. Both must be empty, or
 * disks are planned wrongly.
 */
export function findUnplanned(
  bench: Bench,
  { holdings }: Needs,
): { readonly unused: readonly string[]; readonly unnamed: readonly string[] } {
  const [named, held] = [holdings.map(({ name }) => name), bench.held()];
  return {
    unused: named.filter((name) => !held.includes(name)),
    unnamed: held.filter((name) => !named.includes(name)),
  };
}
