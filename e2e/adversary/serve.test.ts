/**
 * A hostile client with a write token works beside a hostile second process, which replaces folders by links
 * out of the served folder between any two system calls. Together they read, list and change nothing outside,
 * and the server refuses each request or answers it correctly.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { createSandbox, type Sandbox } from '../../engine/jobs/session/job.fixture.ts';
import { serveForTest, TEST_TOKEN } from '../../engine/peer/peer.fixture.ts';
import type { PeerServer } from '../../engine/peer/serve-folder.ts';
import { drawFrom } from '../seeded-draw.ts';
import { CANARY_NAME, CANARY_SECRET, type Canary, layCanary } from './canary.ts';
import { hasSpecialMode, namesBelow, printRun } from './outcomes.ts';
import { createSender, createStepMaker, type Step, type StepAnswer } from './serve-steps.ts';

const SEED = 20_261_123;
/** With those of the other hostile sides, 10,000 in `npm run test:long`. */
const STEPS = Number(process.env.DRAY_ADVERSARY_STEPS ?? runBudget({ short: 1_000, long: 9_200 }));
const LANES = 6;
const TIMEOUT_MS = 7_200_000;
/**
 * 503 (busy) and 501 (a call that this peer does not know). Any other status from 500 on is a failure of the
 * server.
 */
const REFUSALS_FROM_500 = new Set([501, 503]);
/** The paths that the second process replaces by links out. */
const EXCHANGED = [
  'play/d0',
  'play/d1',
  'play/d1/sub',
  'play/a',
  'play/d2/.dray-tmp',
  '.dray-tmp',
  '.dray-tmp/uploads',
];
/** Prefixes of step names. At least one step of each must succeed. */
const MUST_BE_DONE = [
  'content',
  'deltas/',
  'entries',
  'keep',
  'objects/complete',
  'objects/copy',
  'objects/get',
  'objects/list',
  'objects/put',
  'objects/uploadPart',
  'read',
  'remove',
  'touch',
  'uploads/*/complete',
  'write',
];
const CAN_EXCHANGE = process.platform === 'linux';

let sandbox: Sandbox;
let server: PeerServer;
let canary: Canary;
let swapper: ChildProcess | undefined;
const failures: unknown[] = [];

beforeEach(async () => {
  sandbox = createSandbox();
  for (const folder of ['offered/play/d0', 'offered/play/d1/sub', 'offered/play/d2', 'links'])
    mkdirSync(sandbox.path(folder), { recursive: true });
  canary = layCanary(sandbox.path('outside'));
  symlinkSync('../outside', sandbox.path('offered/out'));
  symlinkSync('../../outside', sandbox.path('offered/play/out'));
  symlinkSync('../outside/secret', sandbox.path('offered/secret'));
  server = await serveForTest(sandbox.path('offered'), { onFailure: (error) => failures.push(error) });
});
afterEach(async () => {
  swapper?.kill('SIGKILL');
  await server?.close();
  sandbox?.[Symbol.dispose]();
});

async function startSwapper(): Promise<() => Promise<number>> {
  const child = spawn(
    process.execPath,
    [
      fileURLToPath(new URL('swapper.ts', import.meta.url)),
      sandbox.path('links'),
      sandbox.path('outside'),
      ...EXCHANGED.map((name) => sandbox.path('offered', name)),
    ],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  swapper = child;
  let printed = '';
  child.stdout.on('data', (piece) => {
    printed += piece;
  });
  await once(child.stdout, 'data');
  return async () => {
    child.stdin.write('stop\n');
    await once(child, 'close');
    return Number(printed.split('\n')[1]);
  };
}

function expectHarmless(step: Step, answer: StepAnswer): void {
  const shown = () =>
    `${step.method} ${step.target}\n${step.body.toString('latin1').slice(0, 400)}\n-> ${answer.status} ${answer.body.toString('latin1').slice(0, 400)}\nThe server's failures: ${inspect(failures)}`;
  if (answer.body.includes(CANARY_SECRET)) expect.fail(`A secret was read.\n${shown()}`);
  if (answer.body.includes(CANARY_NAME)) expect.fail(`A name outside the folder was listed.\n${shown()}`);
  if (answer.status >= 500 && !REFUSALS_FROM_500.has(answer.status)) expect.fail(shown());
}

it(
  `a hostile client and a second process stay inside a served folder for ${STEPS.toLocaleString('en')} steps`,
  async () => {
    const stopSwapper = CAN_EXCHANGE ? await startSwapper() : async () => 0;
    const outcomes = new Map<string, { done: number; refused: number }>();
    let taken = 0;
    await Promise.all(
      Array.from({ length: LANES }, async (_, lane) => {
        const steps = createStepMaker(drawFrom(SEED + lane));
        const sender = createSender(server.address.port, TEST_TOKEN);
        while (taken < STEPS) {
          taken += 1;
          const step = steps.next();
          const answer = await sender.send(step);
          expectHarmless(step, answer);
          const outcome = outcomes.get(step.name) ?? { done: 0, refused: 0 };
          outcomes.set(step.name, outcome);
          if (answer.status < 300) {
            outcome.done += 1;
            step.learn?.(answer.body);
          } else outcome.refused += 1;
        }
        sender.close();
      }),
    );
    const exchanges = await stopSwapper();
    const counts = [...outcomes].sort().map(([name, { done, refused }]) => `${name} ${done}/${refused}`);
    const work = `${taken.toLocaleString('en')} steps, ${exchanges.toLocaleString('en')} exchanges for links, done/refused`;
    printRun(`hostile client: ${work}`, canary, counts);
    expect(failures).toEqual([]);
    expect(canary.findTraces()).toEqual([]);
    // A server that refuses everything, or a run that never meets a link, must not pass.
    const doneOf = (prefix: string) =>
      [...outcomes].reduce((sum, [name, { done }]) => (name.startsWith(prefix) ? sum + done : sum), 0);
    for (const name of MUST_BE_DONE) expect(doneOf(name), name).toBeGreaterThan(0);
    if (CAN_EXCHANGE) expect(exchanges).toBeGreaterThan(0);
    const offered = sandbox.path('offered');
    // No client may set a set-uid, set-gid or sticky bit.
    expect(namesBelow(offered).filter((name) => hasSpecialMode(join(offered, name)))).toEqual([]);
  },
  TIMEOUT_MS,
);
