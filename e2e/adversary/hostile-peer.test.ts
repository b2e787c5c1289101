/**
 * A hostile peer answers the client's commands. No answer makes the client read, list or change anything
 * outside its own folder. Every failure has an error code that Dray knows, and no command hangs.
 */
import { mkdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { JobContext } from '../../engine/api/jobs/jobs.ts';
import type { PlaceRequest } from '../../engine/api/jobs/trees.ts';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { usage } from '../../engine/jobs/one-place/disk-usage.ts';
import { listPlace } from '../../engine/jobs/one-place/list-place.ts';
import { createSandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { checkTrees } from '../../engine/jobs/trees/check/check-trees.ts';
import { copyTree, syncTree } from '../../engine/jobs/trees/copy-tree.ts';
import { TEST_TOKEN } from '../../engine/peer/peer.fixture.ts';
import { drawFrom } from '../seeded-draw.ts';
import { layCanary } from './canary.ts';
import { type HostilePeer, startHostilePeer } from './hostile-peer.ts';
import {
  createOutcomes,
  findForbidden,
  namesBelow,
  printRun,
  refuseUnforeseen,
  skipPauses,
} from './outcomes.ts';

const SEED = 20_261_123;
const STEPS = Number(process.env.DRAY_ADVERSARY_STEPS ?? runBudget({ short: 150, long: 2_000 }));
const LANES = 6;
const TIMEOUT_MS = 7_200_000;

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
  `a client of a hostile peer stays inside its folder through ${STEPS.toLocaleString('en')} answers`,
  async () => {
    using sandbox = createSandbox();
    using _pauses = skipPauses();
    const canary = layCanary(sandbox.path('outside'));
    const outcomes = createOutcomes();
    const peers: HostilePeer[] = [];
    const answers = () => peers.reduce((sum, { answered }) => sum + answered(), 0);
    await Promise.all(
      Array.from({ length: LANES }, async (_, at) => {
        const draw = drawFrom(SEED + at);
        const peer = await startHostilePeer({ draw, target: canary.root });
        peers.push(peer);
        for (let file = 0; file < 5; file += 1) sandbox.write(`${at}/source/d/${file}`, `mine ${file}`);
        mkdirSync(sandbox.path(`${at}/target`));
        const lane: Lane = {
          context: testContext(sandbox.folder, {
            emit: refuseUnforeseen,
            environment: { DRAY_TOKEN: TEST_TOKEN, DRAY_CACHE: sandbox.path(`${at}/cache`) },
          }),
          there: { place: `dray://127.0.0.1:${peer.port}/?tls=off` },
          target: { place: sandbox.path(`${at}/target`) },
          source: { place: sandbox.path(`${at}/source`) },
        };
        while (answers() < STEPS) {
          const name = draw.of(Object.keys(COMMANDS));
          await outcomes.run(name, () => COMMANDS[name]!(lane));
        }
        await peer.close();
      }),
    );
    printRun(`hostile peer: ${answers().toLocaleString('en')} answers`, canary, outcomes.counts());
    expect(canary.findTraces()).toEqual([]);
    for (let at = 0; at < LANES; at += 1) {
      const sources = namesBelow(sandbox.path(`${at}/source`));
      expect(sources.sort()).toEqual(['d', 'd/0', 'd/1', 'd/2', 'd/3', 'd/4']);
      expect(findForbidden(sandbox.path(`${at}/target`))).toEqual([]);
    }
    outcomes.expectDone(COMMANDS);
  },
  TIMEOUT_MS,
);
