/**
 * A hostile peer answers the client's commands. Whatever it says, nothing outside of the client's own folder is read,
 * listed or changed, each failure is one that Dray foresees, and no command hangs.
 */
import { lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { DrayError } from '../../engine/api/error.ts';
import type { JobContext } from '../../engine/api/jobs.ts';
import type { PlaceRequest } from '../../engine/api/trees.ts';
import { checkAborted } from '../../engine/base/abort.ts';
import { systemClock } from '../../engine/base/clock.ts';
import { checkTrees } from '../../engine/jobs/check-trees.ts';
import { copyTree, syncTree } from '../../engine/jobs/copy-tree.ts';
import { createSandbox, type Sandbox, testContext } from '../../engine/jobs/job-fixture.ts';
import { listPlace } from '../../engine/jobs/list-place.ts';
import { usage } from '../../engine/jobs/usage.ts';
import { TEST_TOKEN } from '../../engine/peer/peer-fixture.ts';
import { drawFrom } from '../seeded-draw.ts';
import { type Canary, layCanary, tellsOfReads } from './canary.ts';
import { type HostilePeer, startHostilePeer } from './hostile-peer.ts';

const SEED = 20_261_123;
const STEPS = Number(process.env.DRAY_ADVERSARY_STEPS ?? 2_000);
const LANES = 6;
const TIMEOUT_MS = 7_200_000;

let sandbox: Sandbox;
let canary: Canary;
beforeEach(() => {
  sandbox = createSandbox();
  canary = layCanary(sandbox.path('outside'));
  // Retries wait for seconds; here it only counts how often they come.
  vi.spyOn(systemClock, 'sleep').mockImplementation(async (_pauseMs, signal) => {
    checkAborted(signal);
    await setImmediate();
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  sandbox?.[Symbol.dispose]();
});

/** One client with folders of its own, and the peer that lies to it. */
interface Lane {
  readonly context: JobContext;
  readonly there: PlaceRequest;
  readonly target: PlaceRequest;
  readonly source: PlaceRequest;
}

const ALL = { percent: 100 } as const;
const COMMANDS: Readonly<Record<string, (lane: Lane) => Promise<unknown>>> = {
  'copy here': ({ context, target, there }) => copyTree(context, { source: there, destination: target }),
  'sync here': ({ context, target, there }) =>
    syncTree(context, { source: there, destination: target, maxDelete: ALL }),
  'copy there': ({ context, source, there }) => copyTree(context, { source, destination: there }),
  'sync there': ({ context, source, there }) =>
    syncTree(context, { source, destination: there, maxDelete: ALL }),
  check: ({ context, target, there }) => checkTrees(context, { source: there, destination: target }),
  ls: ({ context, there }) => listPlace(context, { ...there, recursive: true }),
  du: ({ context, there }) => usage(context, there),
};

it(
  `a hostile peer leads the client nowhere in ${STEPS.toLocaleString('en')} answers`,
  async () => {
    const seesReads = tellsOfReads(sandbox.path('probe'));
    const ends = new Map<string, number>();
    const peers: HostilePeer[] = [];
    const answers = () => peers.reduce((sum, { answered }) => sum + answered(), 0);
    await Promise.all(
      Array.from({ length: LANES }, async (_, at) => {
        const draw = drawFrom(SEED + at);
        const peer = await startHostilePeer({ draw, target: sandbox.path('outside') });
        peers.push(peer);
        for (let file = 0; file < 5; file += 1) sandbox.write(`${at}/source/d/${file}`, `mine ${file}`);
        mkdirSync(sandbox.path(`${at}/target`));
        const lane: Lane = {
          context: testContext(sandbox.folder, {
            environment: { DRAY_TOKEN: TEST_TOKEN, DRAY_CACHE: sandbox.path(`${at}/cache`) },
          }),
          there: { place: `dray://127.0.0.1:${peer.port}/` },
          target: { place: sandbox.path(`${at}/target`) },
          source: { place: sandbox.path(`${at}/source`) },
        };
        while (answers() < STEPS) {
          const name = draw.of(Object.keys(COMMANDS));
          const end = `${name}: ${await endOf(() => COMMANDS[name]!(lane))}`;
          ends.set(end, (ends.get(end) ?? 0) + 1);
        }
        await peer.close();
      }),
    );
    const shown = [...ends].sort().map(([end, count]) => `${end} ${count}`);
    console.log(
      `hostile peer: ${answers().toLocaleString('en')} answers${
        seesReads ? '' : ' (this file system does not tell of reads: only changes were looked for)'
      }; ${shown.join(', ')}`,
    );
    expect(canary.findTraces()).toEqual([]);
    for (let at = 0; at < LANES; at += 1) {
      const sources = readdirSync(sandbox.path(`${at}/source`), { recursive: true, encoding: 'utf8' });
      expect(sources.sort()).toEqual(['d', 'd/0', 'd/1', 'd/2', 'd/3', 'd/4']);
      expect(findForbidden(sandbox.path(`${at}/target`))).toEqual([]);
    }
    for (const name of Object.keys(COMMANDS)) expect(ends.get(`${name}: done`) ?? 0, name).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);

/** `done`, or the code of the failure. @throws What Dray did not foresee. */
async function endOf(command: () => Promise<unknown>): Promise<string> {
  try {
    await command();
    return 'done';
  } catch (error) {
    if (!(error instanceof DrayError) || error.code === 'internal') throw error;
    return error.code;
  }
}

/** What no peer may make here: set-uid, set-gid and sticky bits, and Dray's own folders. */
function findForbidden(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const stats = lstatSync(join(folder, name));
    const isOurs = name.split('/').some((part) => part.toLowerCase() === '.dray');
    return isOurs || (!stats.isSymbolicLink() && (stats.mode & 0o7000) !== 0);
  });
}
