/**
 * Measures Dray, as it is published, against the tools that do the same work:
 *
 *   npm run bench                  everything; let nothing else run on the machine meanwhile
 *   npm run bench -- --quick       tiny data, to see that it works
 *
 * Whole processes from start to end, on seeded data, against a real S3 server on this machine. The tools take turns, after
 * one round that warms up, and what arrived is compared with what was sent after every run. Prints a Markdown table for each
 * scenario; every run, with the command that it was, goes to a JSON file, from which `--from FILE` prints the tables again.
 */
import { execFile } from 'node:child_process';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { arch, cpus, release, totalmem, type } from 'node:os';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildCommand } from '../app/build/build.ts';
import { formatBytes } from '../engine/api/numbers.ts';
import { type BenchArguments, parseArguments, USAGE } from './arguments.ts';
import { type Bench, openBench } from './bench.ts';
import type { Contender, ContenderName, Courier } from './contender.ts';
import { createDray, createDrayCopy, createPeer, DRAY_COMMAND } from './contenders.ts';
import { type FoundPeer, findPeer, type InstalledPeer, PEER_NAMES } from './peers.ts';
import { createRcloneByDefault, createRcloneCourier } from './rclone.ts';
import { formatEnvironment, formatFigures, formatScenario, formatSummary } from './report.ts';
import type { Figures, ScenarioResult } from './results.ts';
import { runScenario } from './run-scenario.ts';
import { type Heat, listHeats } from './scenario.ts';
import { createScenarios } from './scenarios.ts';

const DEFAULT_FILE = fileURLToPath(new URL('figures.json', import.meta.url));
const run = promisify(execFile);

async function main(): Promise<void> {
  const given = parseArguments(process.argv.slice(2));
  const heats = listHeats(createScenarios(given), given.latenciesMs);
  if (given.action === 'help') return void process.stdout.write(USAGE);
  if (given.action === 'list') {
    for (const { name, title } of heats) console.log(`${name.padEnd(20)} ${title}`);
    return;
  }
  if (given.action === 'show') {
    for (const file of given.from)
      console.log(`${formatFigures(await readFigures(fromHere(file))).join('\n')}\n`);
    return;
  }
  const chosen = chooseHeats(heats, given.scenarios);
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.once(name, () => stop.abort(new Error('Stopped; the data are removed.')));

  await buildCommand(dirname(DRAY_COMMAND));
  const contenders = await findContenders(given);
  await using bench = await openBench({
    parent: given.folder,
    store: given.store,
    server: given.server,
    contenders,
    courier: createCourierSource(),
    signal: stop.signal,
  });
  const environment = await describeEnvironment(bench, given);
  console.log(formatEnvironment(environment, given.isQuick).join('\n'));

  const isWhole =
    given.scenarios.length === 0 &&
    given.peers.length === PEER_NAMES.length &&
    given.latenciesMs === undefined &&
    given.server === 'versitygw' &&
    !given.isQuick;
  const file = given.jsonFile === undefined ? (isWhole ? DEFAULT_FILE : undefined) : fromHere(given.jsonFile);
  const results: ScenarioResult[] = [];
  for (const heat of chosen) {
    const result = await runScenario(heat, await heat.open(bench), bench, {
      runs: given.runs,
      say: (line) => console.error(line),
    });
    results.push(result);
    console.log(`\n${formatScenario(result).join('\n')}`);
    // After each, so that a run of half an hour that is stopped leaves what it found.
    if (file) await writeFigures(file, { environment, isQuick: given.isQuick, scenarios: results });
  }
  console.log(`\n### Targets\n\n${formatSummary(results).join('\n')}`);
  if (file) console.error(`\nAll runs are in ${file}`);
  const hasDrayFailed = results.some(({ entrants }) =>
    entrants.some(({ kind, outcome }) => kind === 'dray' && outcome.state !== 'measured'),
  );
  if (hasDrayFailed) process.exitCode = 1;
}

/** Asked for by the scenario's name, through each latency, or by the name of one. */
function chooseHeats(heats: readonly Heat[], names: readonly string[]): readonly Heat[] {
  const isNamed = ({ name, scenario }: Heat, asked: string) => asked === name || asked === scenario;
  for (const name of names)
    if (!heats.some((heat) => isNamed(heat, name)))
      throw new Error(`There is no scenario ${name}: ${heats.map((heat) => heat.name).join(', ')}.`);
  return names.length === 0 ? heats : heats.filter((heat) => names.some((name) => isNamed(heat, name)));
}

async function findContenders({ peers }: BenchArguments): Promise<Bench['contenders']> {
  const { stdout } = await run(process.execPath, [DRAY_COMMAND, '--version']);
  const contenders = new Map<ContenderName, Contender | { readonly missing: string }>();
  contenders.set('dray', createDray(stdout.trim()));
  contenders.set('dray copy', createDrayCopy(stdout.trim()));
  // One at a time: two installations into one place would meet.
  for (const name of peers) {
    const peer = await findPeer(name);
    contenders.set(name, contenderOf(peer, createPeer));
    if (name === 'rclone') contenders.set('rclone (defaults)', contenderOf(peer, createRcloneByDefault));
  }
  return contenders;
}

function contenderOf(
  peer: FoundPeer,
  create: (peer: InstalledPeer) => Contender,
): Contender | { readonly missing: string } {
  return 'missing' in peer ? { missing: peer.missing } : create(peer);
}

/** rclone, also when it takes no part: sought when it is needed. */
function createCourierSource(): () => Promise<Courier> {
  let finding: Promise<Courier> | undefined;
  return () => {
    finding ??= findPeer('rclone').then((peer) => {
      if ('missing' in peer)
        throw new Error(`rclone, which prepares and checks, is missing: ${peer.missing}`);
      return createRcloneCourier(peer);
    });
    return finding;
  };
}

async function describeEnvironment(
  bench: Bench,
  { server, store, folder, runs }: BenchArguments,
): Promise<Readonly<Record<string, string>>> {
  const commit = await run('git', ['describe', '--always', '--dirty'], { cwd: dirname(DRAY_COMMAND) }).then(
    ({ stdout }) => ` (${stdout.trim()})`,
    () => '',
  );
  const tools = (['dray', ...PEER_NAMES] as const).flatMap((name): [string, string][] => {
    const found = bench.contenders.get(name);
    if (!found) return [];
    if ('missing' in found) return [[name, `missing: ${found.missing}`]];
    return [[name, name === 'dray' ? `${found.version}${commit}` : found.version]];
  });
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} x ${cpus()[0]?.model.trim() ?? 'unknown'}, ${formatBytes(totalmem())} of memory`,
    system: `${type()} ${release()} ${arch()}, Node ${process.version}`,
    server: `${server} on the loopback, its data ${store === 'disk' ? 'on disk' : 'in memory where there is room'}`,
    latency: 'where a scenario has one: toxiproxy, on each answer and none on requests',
    source: `${folder}, page cache warm`,
    runs: `${runs} each after one that warms up; one alone where that took over 30 s`,
    ...(bench.meter.seesResources ? {} : { resources: 'not measured: GNU time is not at /usr/bin/time' }),
    ...Object.fromEntries(tools),
  };
}

/** npm runs scripts in the project's folder; a path is meant from where npm was called. */
function fromHere(file: string): string {
  return resolve(process.env.INIT_CWD ?? '.', file);
}

async function readFigures(file: string): Promise<Figures> {
  const figures: Figures = JSON.parse(await readFile(file, 'utf8'));
  if (!Array.isArray(figures.scenarios)) throw new Error(`${file} holds no figures.`);
  return figures;
}

async function writeFigures(file: string, figures: Figures): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(`${file}.tmp`, `${JSON.stringify(figures, undefined, 2)}\n`);
  await rename(`${file}.tmp`, file);
}

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
