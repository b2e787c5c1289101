/** The options of `npm run bench`. */
import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { SERVER_NAMES, type ServerName } from './machines/bench-servers.ts';
import { PEER_NAMES, type PeerName } from './machines/peers.ts';
import type { StoreKind } from './page/results.ts';

export const USAGE = `Usage: npm run bench -- [OPTION]...

  --scenario NAME   run only this scenario, or all that match, such as 'copy-*' (repeatable, or with commas)
  --peers NAMES     compare only with these: ${PEER_NAMES.join(', ')}, or none
  --runs N          measured runs of each tool, fewer for slow ones (default: 5; with --quick: 2)
  --latency MS      add this to each round trip, such as 0,30 (default: each scenario's own)
  --quick           use tiny data, to check that everything works
  --json FILE       write the figures there (default: bench/figures/whole-run.json after a full run)
  --continue        measure what the file of a stopped run lacks, with the same build, machine and tools
  --from FILE       measure nothing; print the tables of this file (repeatable)
  --results         measure nothing; write bench/RESULTS.md and its plots from bench/figures
  --server NAMES    run against ${SERVER_NAMES.join(', ')} in turn (default: each scenario's own)
  --store KIND      keep the server's data in memory, where there is room, or on disk (default: memory)
  --folder DIR      keep the source data here (default: the system's temporary folder)
  --list            list the scenarios
  --help
`;

export interface BenchArguments {
  /** Names, in which `*` matches anything. Empty: all. */
  readonly scenarios: readonly string[];
  readonly peers: readonly PeerName[];
  readonly runs: number;
  /** In ms, each once; undefined: each scenario's own. */
  readonly latenciesMs: readonly number[] | undefined;
  readonly isQuick: boolean;
  readonly jsonFile: string | undefined;
  /** Keeps the results in the file and does not measure them again. */
  readonly isContinued: boolean;
  /** With the action `show`: results files of other runs. */
  readonly from: readonly string[];
  /** At least one, each once; undefined: each scenario's own. */
  readonly servers: readonly ServerName[] | undefined;
  /** `memory` falls back to disk where there is no room in memory. */
  readonly store: StoreKind;
  readonly folder: string;
  readonly action: 'run' | 'show' | 'results' | 'list' | 'help';
}

const RUNS_MAX = 100;

/** @throws Error that names the wrong argument. */
export function parseArguments(args: readonly string[]): BenchArguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      scenario: { type: 'string', multiple: true },
      peers: { type: 'string', multiple: true },
      runs: { type: 'string' },
      latency: { type: 'string', multiple: true },
      quick: { type: 'boolean', default: false },
      json: { type: 'string' },
      continue: { type: 'boolean', default: false },
      from: { type: 'string', multiple: true, default: [] },
      results: { type: 'boolean', default: false },
      server: { type: 'string', multiple: true },
      store: { type: 'string', default: 'memory' },
      folder: { type: 'string', default: tmpdir() },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const runs = Number(values.runs ?? (values.quick ? 2 : 5));
  if (!Number.isInteger(runs) || runs < 1 || runs > RUNS_MAX)
    throw new Error(`--runs must be a whole number from 1 to ${RUNS_MAX}.`);
  if (values.store !== 'memory' && values.store !== 'disk')
    throw new Error('--store must be memory or disk.');
  return {
    scenarios: splitNames(values.scenario),
    peers: values.peers ? parsePeers(splitNames(values.peers)) : PEER_NAMES,
    runs,
    latenciesMs: values.latency ? parseLatencies(splitNames(values.latency)) : undefined,
    isQuick: values.quick,
    jsonFile: values.json,
    isContinued: values.continue,
    from: values.from,
    servers: values.server ? parseServers(splitNames(values.server)) : undefined,
    store: values.store,
    folder: values.folder,
    action: actionOf(values),
  };
}

function actionOf(values: {
  readonly help: boolean;
  readonly list: boolean;
  readonly results: boolean;
  readonly from: readonly string[];
}): BenchArguments['action'] {
  if (values.help) return 'help';
  if (values.list) return 'list';
  if (values.results) return 'results';
  return values.from.length > 0 ? 'show' : 'run';
}

function parseServers(names: readonly string[]): readonly ServerName[] {
  const servers = names.map((given) => {
    const server = SERVER_NAMES.find((name) => name === given);
    if (!server) throw new Error(`--server must be of ${SERVER_NAMES.join(', ')}.`);
    return server;
  });
  if (servers.length === 0) throw new Error(`--server must name one of ${SERVER_NAMES.join(', ')}.`);
  return [...new Set(servers)];
}

function splitNames(values: readonly string[] = []): readonly string[] {
  return values.flatMap((value) => value.split(',')).filter((name) => name !== '');
}

const LATENCY_MAX_MS = 10_000;

function parseLatencies(texts: readonly string[]): readonly number[] {
  const latenciesMs = texts.map(Number);
  if (
    latenciesMs.length === 0 ||
    latenciesMs.some((value) => !Number.isInteger(value) || value < 0 || value > LATENCY_MAX_MS)
  )
    throw new Error(`--latency must be whole numbers of milliseconds from 0 to ${LATENCY_MAX_MS}.`);
  return [...new Set(latenciesMs)];
}

function parsePeers(names: readonly string[]): readonly PeerName[] {
  if (names.length === 1 && names[0] === 'none') return [];
  return names.map((name) => {
    const peer = PEER_NAMES.find((known) => known === name);
    if (!peer) throw new Error(`There is no peer ${name}: ${PEER_NAMES.join(', ')} or none.`);
    return peer;
  });
}
