/**
 * Measures the published Dray against the tools that do the same work:
 *
 *   npm run bench                  everything; keep the machine otherwise idle
 *   npm run bench -- --quick       tiny data, to check that everything works
 *   npm run bench -- --results     writes bench/RESULTS.md and its plots from the committed figures
 *
 * It runs whole processes from start to end, on seeded data, against a real S3 server on this machine. The
 * tools take turns after a warm-up round, and every run's result is compared with its source. Prints a
 * Markdown table for each scenario. Every run and its command go to a JSON file, from which `--from FILE`
 * prints the tables again.
 */
import { execFile } from 'node:child_process';
import { dirname, resolve } from 'node:path';
import { promisify } from 'node:util';
import { buildCommand } from '../app/build/build.ts';
import { roomyFolder } from '../e2e/servers/memory-folder.ts';
import { type BenchArguments, parseArguments, USAGE } from './arguments.ts';
import { isMeasured, joinEnvironments } from './continue-run.ts';
import type { Contender, ContenderName, Courier } from './entrants/contender.ts';
import { createDray, createDrayCopy, createPeer, DRAY_COMMAND } from './entrants/contenders.ts';
import { createRcloneByDefault, createRcloneCourier } from './entrants/rclone.ts';
import { type Bench, openBench } from './machines/bench.ts';
import type { ServerName } from './machines/bench-servers.ts';
import { describeEnvironment } from './machines/environment.ts';
import { type FoundPeer, findPeer, type InstalledPeer, PEER_NAMES } from './machines/peers.ts';
import { findMissingYardsticks } from './machines/yardsticks.ts';
import {
  FIGURES_FOLDER,
  readFigures,
  readSessions,
  WHOLE_RUN_FILE,
  writeFigures,
} from './page/figures-file.ts';
import { readFleetFigures, readSubjectFigures } from './page/fleet-section.ts';
import { REASONS } from './page/reasons.ts';
import { formatEnvironment, formatFigures, formatScenario, formatSummary } from './page/report.ts';
import { type Figures, PREPARING_FAILED, type ScenarioResult } from './page/results.ts';
import { renderResults, writeResults } from './page/results-page.ts';
import { readWindowFigures } from './page/window-results.ts';
import { type BenchPlan, findStoreChoices, type PlannedHeat, planBenches } from './scenarios/plan-benches.ts';
import { leaveOut, runScenario } from './scenarios/run-scenario.ts';
import { chooseHeats, type Heat, listHeats, type Scenario } from './scenarios/scenario.ts';
import { createScenarios } from './scenarios/scenarios.ts';

async function main(): Promise<void> {
  const given = parseArguments(process.argv.slice(2));
  if (given.action === 'help') return void process.stdout.write(USAGE);
  if (given.action === 'show') {
    for (const file of given.from)
      console.log(`${formatFigures(await readFigures(fromHere(file))).join('\n')}\n`);
    return;
  }
  const scenarios = createScenarios(given);
  if (given.action === 'results') return showResults(scenarios);
  const heats = listHeats(scenarios, given.latenciesMs);
  if (given.action === 'list') {
    for (const { name, title } of chooseHeats(heats, given.scenarios))
      console.log(`${name.padEnd(20)} ${title}`);
    return;
  }
  await measure(chooseHeats(heats, given.scenarios), given);
}

async function showResults(scenarios: readonly Scenario[]): Promise<void> {
  const sessions = await readSessions(FIGURES_FOLDER);
  const window = await readWindowFigures();
  const fleet = await readFleetFigures(FIGURES_FOLDER);
  const subjects = await readSubjectFigures(FIGURES_FOLDER);
  const files = renderResults({ sessions, reasons: REASONS, known: scenarios, window, fleet, subjects });
  await writeResults(files);
  console.log([...files.keys()].map((file) => `bench/${file}`).join('\n'));
}

async function measure(chosen: readonly Heat[], given: BenchArguments): Promise<void> {
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.once(name, () => stop.abort(new Error('Stopped; the data are removed.')));

  const file = given.jsonFile === undefined ? defaultFile(given) : fromHere(given.jsonFile);
  const earlier = given.isContinued ? await readEarlier(file) : undefined;
  await buildCommand(dirname(DRAY_COMMAND));
  const unmeasured = await findMissingYardsticks();
  for (const line of unmeasured) console.error(`Not measured: ${line}`);
  const contenders = await findContenders(given);
  const isLacking = (heat: Heat, server: ServerName) => !isMeasured(earlier?.scenarios ?? [], heat, server);
  const results = (earlier?.scenarios ?? []).filter((result) => result.leftOut === undefined);
  const choices = await findStoreChoices(given);
  const { benches, leftOut } = planBenches(chosen, given.servers, choices, isLacking);
  for (const { heat, reason, server } of leftOut) {
    console.error(`${heat.name} on ${server} is left out: ${reason}`);
    results.push(onServer(leaveOut(heat, reason), heat, { server }));
    process.exitCode = 1;
  }
  const present = await describeEnvironment(contenders, { given, benches, unmeasured });
  const { isQuick } = given;
  const environment =
    file && earlier ? joinEnvironments(file, earlier, { environment: present, isQuick }) : present;
  console.log(formatEnvironment(environment, given.isQuick).join('\n'));
  for (const plan of benches) {
    await using bench = await openBench({
      parent: given.folder,
      storeParent: plan.storeParent,
      chooseFolder: (room) =>
        given.store === 'memory' ? roomyFolder(room, given.folder) : Promise.resolve(given.folder),
      server: plan.server,
      contenders,
      courier: createCourierSource(),
      signal: stop.signal,
    });
    for (const { heat, keep } of plan.heats) {
      const measured = await runHeat(heat, bench, { keep, runs: given.runs }).catch((error: unknown) => {
        stop.signal.throwIfAborted();
        process.exitCode = 1;
        return leaveOut(heat, `${PREPARING_FAILED}${error instanceof Error ? error.message : error}`);
      });
      const result = onServer(measured, heat, plan);
      results.push(result);
      console.log(`\n${formatScenario(result).join('\n')}`);
      // Written after each heat, so that a stopped run keeps its results.
      if (file) await writeFigures(file, { environment, isQuick: given.isQuick, scenarios: results });
    }
  }
  console.log(`\n### Targets\n\n${formatSummary(results).join('\n')}`);
  if (file) console.error(`\nAll runs are in ${file}`);
  const hasDrayFailed = results.some(({ entrants }) =>
    entrants.some(({ kind, outcome }) => kind === 'dray' && outcome.state !== 'measured'),
  );
  if (hasDrayFailed) process.exitCode = 1;
}

async function readEarlier(file: string | undefined): Promise<Figures> {
  if (!file) throw new Error('--continue needs --json FILE, unless everything is measured.');
  return readFigures(file).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : error;
    throw new Error(`There is nothing to continue (${reason}): begin without --continue.`);
  });
}

async function runHeat(
  heat: Heat,
  bench: Bench,
  { keep, runs }: Pick<PlannedHeat, 'keep'> & Pick<BenchArguments, 'runs'>,
): Promise<ScenarioResult> {
  await bench.beginHeat(keep);
  const field = await heat.open(bench);
  return runScenario(heat, field, bench, { runs, say: (line) => console.error(line) });
}

function onServer(
  result: ScenarioResult,
  { isWithoutStore }: Heat,
  { server, store }: Pick<BenchPlan, 'server'> & Partial<Pick<BenchPlan, 'store'>>,
): ScenarioResult {
  return isWithoutStore ? result : { ...result, server, ...(store ? { store } : {}) };
}

/** Only when every scenario is measured. */
function defaultFile({ isQuick, latenciesMs, peers, scenarios }: BenchArguments): string | undefined {
  const isWhole = scenarios.length === 0 && peers.length === PEER_NAMES.length && latenciesMs === undefined;
  return isWhole && !isQuick ? WHOLE_RUN_FILE : undefined;
}

async function findContenders({ peers }: BenchArguments): Promise<Bench['contenders']> {
  const { stdout } = await promisify(execFile)(process.execPath, [DRAY_COMMAND, '--version']);
  const contenders = new Map<ContenderName, Contender | { readonly missing: string }>();
  contenders.set('dray', createDray(stdout.trim()));
  contenders.set('dray copy', createDrayCopy(stdout.trim()));
  // In turn, because two installations into one folder would collide.
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

/** Uses rclone even when it takes no part; looks for it when needed. */
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

/** npm runs scripts in the project's folder; paths are relative to where npm was called. */
function fromHere(file: string): string {
  return resolve(process.env.INIT_CWD ?? '.', file);
}

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
