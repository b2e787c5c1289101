/** Entrants that make one huge file on another machine like the one here, of which most is the same. */
import { createCipheriv } from 'node:crypto';
import {
  closeSync,
  copyFileSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { startByteCounter } from '../e2e/servers/byte-counter.ts';
import type { Bench } from './bench.ts';
import { pathOfFile } from './dataset.ts';
import { checkArrival, type Fingerprint, fingerprintOf } from './fingerprint.ts';
import {
  createAbsent,
  drayUrl,
  missingCommand,
  offerFolder,
  runDray,
  startDray,
  UNABLE,
  type Way,
} from './peer-entrants.ts';
import { RSYNC_MODULE, startPdiffcopy, startRsyncDaemon } from './peer-servers.ts';
import { RSYNC } from './peer-tree-entrants.ts';
import { findPeer } from './peers.ts';
import type { Entrant } from './scenario.ts';

export const DRAY_DELTA = 'dray delta';
export const DRAY_DELTA_TLS = 'dray delta (TLS)';
export const DRAY_WHOLE = 'dray delta (whole file)';
export const PDIFFCOPY = 'pdiffcopy';
const RSYNC_WHOLE = 'rsync daemon (whole file)';

const BLOCK_BYTES = 4096;
const CONCURRENCY = 2;
const FILE = 'file';

interface DeltaOptions {
  readonly fileBytes: number;
  readonly latencyMs: number;
  /** What Node runs as Dray. */
  readonly program: string;
}

/** In place: that is what pdiffcopy does, and it has no other way. */
export async function openDelta(
  bench: Bench,
  { fileBytes, latencyMs, percent, program }: DeltaOptions & { readonly percent: number },
): Promise<readonly Entrant[]> {
  const pair = await makePair(bench, fileBytes, `${fileBytes}-${percent}`, (source, old) => {
    copyFileSync(old, source);
    changeBlocks(source, percent);
  });
  const missing = await missingCommand(bench, program, 'delta');
  const blocks = ['--inplace', '--block-size', `${BLOCK_BYTES}`, '--concurrency', `${CONCURRENCY}`];
  const ways = [
    createDray({ name: DRAY_DELTA, program, missing, options: blocks }),
    createDray({ name: DRAY_DELTA_TLS, program, missing, options: blocks, isTls: true }),
    createDray({ name: DRAY_WHOLE, program, missing, options: [...blocks, '--whole-file'] }),
    latencyMs > 0 && percent > SLOW_PDIFFCOPY_PERCENT ? PDIFFCOPY_LEFT_OUT : await createPdiffcopy(),
    await createRsync(RSYNC, ['--inplace', '--no-whole-file']),
    await createRsync(RSYNC_WHOLE, ['--inplace', '--whole-file']),
  ];
  return ways.map((way) => createEntrant(bench, { way, pair, fileBytes, latencyMs, isCounted: false }));
}

/** Blocks at the same offsets have nothing in common any more. What is asked for is bytes, not time. */
export async function openInsertion(
  bench: Bench,
  { fileBytes, latencyMs, program }: DeltaOptions,
): Promise<readonly Entrant[]> {
  const pair = await makePair(bench, fileBytes, `${fileBytes}-insert`, insertByte);
  const missing = await missingCommand(bench, program, 'delta');
  const ways = [
    createDray({ name: DRAY_DELTA, program, missing, options: ['--cdc'] }),
    createDray({ name: DRAY_DELTA_TLS, program, missing, options: ['--cdc'], isTls: true }),
    await createRsync(RSYNC, ['--no-whole-file']),
  ];
  return ways.map((way) => createEntrant(bench, { way, pair, fileBytes, latencyMs, isCounted: true }));
}

interface Pair {
  readonly old: string;
  readonly source: string;
  readonly fingerprint: Fingerprint;
}

interface EntrantOptions {
  readonly way: Way;
  readonly pair: Pair;
  readonly fileBytes: number;
  readonly latencyMs: number;
  readonly isCounted: boolean;
}

/** Each run has a server of its own, over a folder with the old file. */
function createEntrant(
  bench: Bench,
  { way, pair, fileBytes, latencyMs, isCounted }: EntrantOptions,
): Entrant {
  if (way.missing !== undefined) return createAbsent(way.name, way.kind, way.missing);
  return {
    name: way.name,
    kind: way.kind,
    prepare: async () => {
      const offered = await offerFolder(bench, { bytes: fileBytes * 2, latencyMs, start: way.start });
      const { server } = offered;
      const counter = isCounted ? await startByteCounter(offered.port) : undefined;
      const target = join(offered.folder, FILE);
      copyFileSync(pair.old, target);
      // Older than the source by far: no tool may take the two for equal by their times.
      utimesSync(target, 1, 1);
      return {
        command: way.command(join(pair.source, FILE), { ...offered, port: counter?.port ?? offered.port }),
        serverCpuMs: () => server.cpuMs(),
        serverPort: server.port,
        ...(counter ? { sentBytes: counter.sentBytes } : {}),
        check: async () => checkArrival(offered.folder, pair.fingerprint),
        close: async () => {
          await counter?.stop();
          await offered.stop();
        },
      };
    },
  };
}

interface DrayOptions {
  readonly name: string;
  readonly program: string;
  readonly missing: string | undefined;
  readonly options: readonly string[];
  readonly isTls?: boolean;
}

function createDray({ isTls = false, missing, name, options, program }: DrayOptions): Way {
  return {
    name,
    kind: 'dray',
    missing,
    start: startDray(program, isTls),
    command: (source, offered) =>
      runDray(program, offered, ['delta', source, drayUrl(offered, isTls, FILE), ...options]),
  };
}

/** It asks for each block by itself: through latency the time grows with the blocks, and one row tells of all. */
const SLOW_PDIFFCOPY_PERCENT = 10;
const PDIFFCOPY_LEFT_OUT: Way = {
  name: PDIFFCOPY,
  kind: 'peer',
  missing: `left out: a request for each block of ${BLOCK_BYTES} bytes; see the row of ${SLOW_PDIFFCOPY_PERCENT} %`,
  ...UNABLE,
};

async function createPdiffcopy(): Promise<Way> {
  const found = await findPeer('pdiffcopy');
  const path = 'missing' in found ? '' : found.path;
  return {
    name: PDIFFCOPY,
    kind: 'peer',
    ...('missing' in found ? { missing: found.missing } : {}),
    start: ({ environment }) => startPdiffcopy(path, environment),
    command: (source, { environment, folder, port }) => ({
      file: path,
      args: [
        `--block-size=${BLOCK_BYTES}`,
        `--concurrency=${CONCURRENCY}`,
        source,
        `http://127.0.0.1:${port}${join(folder, FILE)}`,
      ],
      environment,
    }),
  };
}

async function createRsync(name: string, options: readonly string[]): Promise<Way> {
  const found = await findPeer('rsync');
  const path = 'missing' in found ? '' : found.path;
  return {
    name,
    kind: 'peer',
    ...('missing' in found ? { missing: found.missing } : {}),
    start: ({ environment, folder, notes }) => startRsyncDaemon(path, folder, notes, environment),
    command: (source, { environment, port }) => ({
      file: path,
      args: ['-a', ...options, source, `rsync://127.0.0.1:${port}/${RSYNC_MODULE}/${FILE}`],
      environment,
    }),
  };
}

const pairs = new WeakMap<Bench, Map<string, Pair>>();

/** The old file and the new one. Only the pair of the last scenario is kept: each takes as much room as its file. */
async function makePair(
  bench: Bench,
  fileBytes: number,
  key: string,
  change: (source: string, old: string) => void,
): Promise<Pair> {
  const known = pairs.get(bench) ?? new Map<string, Pair>();
  pairs.set(bench, known);
  const present = known.get(key);
  if (present) return present;
  for (const [other, { source }] of known) {
    rmSync(source, { recursive: true, force: true });
    known.delete(other);
  }
  const { folder } = await bench.dataset({ files: 1, bytesMax: fileBytes, sizes: 'equal' }, 'delta');
  const old = join(folder, pathOfFile(0));
  const source = bench.newPath('changed');
  await mkdir(source);
  const path = join(source, FILE);
  change(path, old);
  if (statSync(path).size === 0) throw new Error('There is nothing in the file.');
  const pair = { old, source, fingerprint: fingerprintOf(source) };
  known.set(key, pair);
  return pair;
}

/** Every block of the chosen gets other bytes throughout. Which ones: spread evenly, never by a period of their own. */
function changeBlocks(path: string, percent: number): void {
  const blocks = Math.ceil(statSync(path).size / BLOCK_BYTES);
  const cipher = createCipheriv('aes-128-ctr', Buffer.alloc(16, 'changed'), Buffer.alloc(16));
  const zeros = Buffer.alloc(BLOCK_BYTES);
  const sizeBytes = statSync(path).size;
  const file = openSync(path, 'r+');
  try {
    for (const block of chooseBlocks(blocks, Math.round((blocks * percent) / 100))) {
      const at = block * BLOCK_BYTES;
      writeSync(file, cipher.update(zeros), 0, Math.min(BLOCK_BYTES, sizeBytes - at), at);
    }
  } finally {
    closeSync(file);
  }
}

const LCG_FACTOR = 1_664_525;
const LCG_STEP = 1_013_904_223;

/** So many of the first `blocks` numbers, in order, each as likely as any other; the same at every call. */
export function chooseBlocks(blocks: number, wanted: number): readonly number[] {
  const chosen: number[] = [];
  let state = 1;
  for (let block = 0; block < blocks; block += 1) {
    state = (Math.imul(state, LCG_FACTOR) + LCG_STEP) >>> 0;
    // Selection sampling (Knuth, algorithm S): exactly `wanted` are left over at the end.
    if ((state / 2 ** 32) * (blocks - block) < wanted - chosen.length) chosen.push(block);
  }
  return chosen;
}

const COPY_BYTES = 1024 * 1024;

function insertByte(path: string, old: string): void {
  const [from, to] = [openSync(old, 'r'), openSync(path, 'w')];
  try {
    writeSync(to, Buffer.from('x'));
    const piece = Buffer.alloc(COPY_BYTES);
    for (let read = readSync(from, piece); read > 0; read = readSync(from, piece))
      writeSync(to, piece, 0, read);
  } finally {
    closeSync(from);
    closeSync(to);
  }
}
